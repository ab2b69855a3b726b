import type { SilenceRecord } from '../../resources/silenced.ts';
import { CHECK_STATE_CHART } from '../../rules/check-state-chart.ts';
import { SILENCE_CHART } from '../../rules/silence-chart.ts';
import type { TableReader } from '../../store/commit/decision.ts';
import type { LedgerDraft } from '../../store/ledger/ledger.ts';
import type { MachineDefinition } from './definition.ts';

/** Kinds of states that are not actors. Plain functions decide them, and the ledger records their transitions. */
export type RecordedKind = 'check-state' | 'silence';

export const RECORDED_CHARTS: Record<RecordedKind, MachineDefinition> = {
  'check-state': CHECK_STATE_CHART,
  silence: SILENCE_CHART,
};

export const isRecordedKind = (kind: string): kind is RecordedKind => Object.hasOwn(RECORDED_CHARTS, kind);

const EXPIRY: ReadonlySet<string> = new Set(['expiry.reached', 'check.resolved']);

/** The final state that a ledger entry without `to` leads to. */
export const endState = (kind: RecordedKind, event: string): 'expired' | 'deleted' =>
  kind === 'silence' && EXPIRY.has(event) ? 'expired' : 'deleted';

/** The current state by the stored record; undefined when there is none. The context has the fields of a ledger entry. */
export function recordedState(reader: TableReader, kind: RecordedKind, key: string) {
  if (kind === 'silence') {
    const silence = reader.get('resources', `silenced/${key}`) as SilenceRecord | undefined;
    if (silence === undefined) return undefined;
    const { state, begin, expire_at, reason, creator } = silence;
    const texts = { ...(reason === undefined ? {} : { reason }), ...(creator === undefined ? {} : { creator }) };
    return { value: state, context: { key, begin, expire_at, ...texts } };
  }
  const state = reader.get('events', key)?.state;
  if (state === undefined) return undefined;
  const { history, occurrences, silenced } = state;
  const context = { key, status: history.statuses.at(-1), occurrences, ...(silenced.length === 0 ? {} : { silenced }) };
  return { value: state.state, context };
}

/** The details that describe the transition itself. */
const OF_TRANSITION: ReadonlySet<string> = new Set(['previousStatus', 'previousOccurrences', 'overdue', 'output']);

/** Returns the context after a transition, from the details of its ledger entry. Leaves out the details that describe the transition itself. */
export function contextAfter(key: string, details: LedgerDraft['details']): { key: string } {
  const context = Object.entries(details ?? {}).filter(([name]) => !OF_TRANSITION.has(name));
  return { key, ...Object.fromEntries(context) };
}

/** Returns the step that a ledger entry records: a registration without an event, or an event and the state after it. */
export function stepOf(kind: RecordedKind, { key, from, event: type, to, cause, details }: LedgerDraft) {
  const after = {
    value: to ?? endState(kind, type),
    context: contextAfter(key, details),
    status: to === null ? 'done' : 'active',
  };
  return { kind, event: from === null ? undefined : { type, cause, ...(details && { details }) }, after };
}
