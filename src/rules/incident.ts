import type { CheckEvent } from '../resources/event.ts';
import { type CheckHistory, executedTimes } from './check-history.ts';
import type { CheckState } from './check-state.ts';

/** A period in which a check of an entity has an open event: from its first failure to its resolution. Source: spec/05 3.3. */
export interface Incident {
  /** UUID. It stays the same until the resolution. */
  id: string;
  /** Unix seconds. */
  openedAtS: number;
  /** The last change of the status within the incident, its start included. Unix seconds. */
  lastStateChangeS: number;
  /** The mark of the result that was deleted while its event stayed; a later result has another one. */
  deletedResult?: string;
}

/** Identifies the result that an event has. */
export const resultMark = ({ id, timestamp, check }: CheckEvent): string =>
  `${id ?? ''}/${timestamp}/${check.executed}`;

/** Whether the event of a check is open: it fails, or it flaps, whatever its last status is. Source: spec/05 3.2. */
export const isOpen = (status: number, state: string | undefined): boolean => status !== 0 || state === 'flapping';

/** The effect of a result on the incident of its check. `unchanged` is the usual case. */
export type IncidentChange = 'unchanged' | 'opened' | 'continued' | 'resolved' | 'unknown';

/**
 * Compares the state of a check before and after a result. `continued`: the status changed within the incident. `unknown`: the
 * incident began before the first result that this backend received.
 */
export function incidentChange(
  previous: Pick<CheckState, 'state'> | undefined,
  { history, state }: Pick<CheckState, 'history' | 'state'>,
): IncidentChange {
  const { statuses } = history;
  const status = statuses.at(-1) ?? 0;
  const before = statuses.at(-2) ?? 0;
  const wasOpen = isOpen(before, previous?.state);
  if (!isOpen(status, state)) return wasOpen && previous !== undefined ? 'resolved' : 'unchanged';
  if (!wasOpen) return 'opened';
  if (previous === undefined) return 'unknown';
  return status === before ? 'unchanged' : 'continued';
}

/** Derives an open incident without a record from the history. A history has 21 results, so it may have begun earlier. */
export function incidentTimes(history: CheckHistory): Omit<Incident, 'id'> {
  const { statuses } = history;
  const executed = executedTimes(history);
  const last = statuses.length - 1;
  let changed = last;
  while (changed > 0 && statuses[changed - 1] === statuses[last]) changed -= 1;
  let opened = changed;
  while (opened > 0 && statuses[opened - 1] !== 0) opened -= 1;
  return { openedAtS: executed[opened] ?? 0, lastStateChangeS: executed[changed] ?? 0 };
}
