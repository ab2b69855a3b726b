import { type CheckEvent, type Event, hasCheck } from '../resources/event.ts';
import { isSilencedName } from '../resources/silenced.ts';
import { isResolution, mergeCheckState, NO_PREVIOUS_STATE } from '../rules/check-state.ts';
import { silenceableOf, silencesOf, type SilencingOptions } from '../rules/silencing.ts';
import { eventKey } from '../store/encoding/keyspace.ts';
import { eventOf } from '../store/records/records.ts';
import { readResource } from '../store/resource-store.ts';
import type { TableReader } from '../store/records/table-reader.ts';

export interface DryRunMoment {
  reader: TableReader;
  nowS: number;
  silencing: SilencingOptions;
}

/**
 * Returns the event that would be handled if this one were received now: merged with the stored state of its key, and silenced.
 * `mayRead` decides whether the stored state may be used; otherwise the event counts as the first one of its key.
 */
export function asIfReceived(event: Event, moment: DryRunMoment, mayRead: (event: CheckEvent) => boolean): Event {
  if (!hasCheck(event)) return event;
  const { entity, check } = event;
  const { namespace = '', name = '' } = entity.metadata;
  const key = eventKey(namespace, name, check.metadata.name ?? '');
  const stored = mayRead(event) ? moment.reader.get('events', key)?.state : undefined;
  const state = mergeCheckState(stored ?? NO_PREVIOUS_STATE, {
    status: check.status,
    executed: check.executed,
    lowFlapThreshold: check.low_flap_threshold,
    highFlapThreshold: check.high_flap_threshold,
  });
  const silenced = silencing(event, isResolution(state.history), moment);
  return eventOf({ state: { ...state, silenced }, ttl: undefined, event });
}

/** Returns a stored event with the silences that apply to it now. */
export function asStored(event: CheckEvent, moment: DryRunMoment): CheckEvent {
  const [previous, last] = (event.check.history ?? []).slice(-2);
  const hasResolved = last?.status === 0 && (previous?.status ?? 0) !== 0;
  const silenced = silencing(event, hasResolved, moment);
  return { ...event, check: { ...event.check, silenced, is_silenced: silenced.length > 0 } };
}

/** The names of the silences that apply to an event. Those that end with its resolution do not. */
function silencing(event: CheckEvent, hasResolved: boolean, { reader, nowS, silencing: options }: DryRunMoment) {
  const { namespace = '' } = event.entity.metadata;
  const lookUp = (silence: string) =>
    isSilencedName(silence) ? readResource(reader, 'silenced', namespace, silence) : undefined;
  return silencesOf(silenceableOf(event), lookUp, nowS, options)
    .filter(({ expire_on_resolve }) => !(hasResolved && expire_on_resolve))
    .map(({ metadata }) => metadata.name ?? '');
}
