import type { CheckStateName } from '../rules/check-state.ts';
import type { LedgerEntry } from '../store/ledger/ledger.ts';
import type { RecordedChange, StateAt } from './explanation.ts';

/** Reads a ledger entry of the actor `check-state`. Entries of older versions lack some of the details. */
export function changeOf({ seq, atMs, from, event, to, cause, details = {} }: LedgerEntry): RecordedChange {
  return {
    seq,
    atMs,
    event,
    state: (to ?? undefined) as CheckStateName | undefined,
    isFirst: from === null,
    status: number(details['status']),
    previousStatus: number(details['previousStatus']),
    occurrences: number(details['occurrences']),
    previousOccurrences: number(details['previousOccurrences']),
    output: typeof details['output'] === 'string' ? details['output'] : '',
    silenced: Array.isArray(details['silenced']) ? details['silenced'].map(String) : [],
    cause,
    overdue: overdueOf(details['overdue']),
  };
}

const number = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

function overdueOf(value: unknown): RecordedChange['overdue'] {
  const { sinceMs, limitMs, blindMs } = (value ?? {}) as Record<string, unknown>;
  if (typeof sinceMs !== 'number' || typeof limitMs !== 'number') return undefined;
  return { sinceMs, limitMs, blindMs: number(blindMs) };
}

/** The changes of a check around a moment. */
export interface ChangesAround {
  /** Those up to the moment, newest first. */
  before: readonly RecordedChange[];
  /** Whether `before` ends before the first change of the check. */
  isCut: boolean;
  /** The first change after the newest of `before`. */
  next: RecordedChange | undefined;
}

/** Returns the state after the last change; undefined when there is no change. */
export function stateAfter({ before, isCut, next }: ChangesAround): StateAt | undefined {
  const [change] = before;
  if (change === undefined) {
    if (next === undefined) return undefined;
    return { kind: next.isFirst ? 'absent' : 'unrecorded', beginsAtMs: next.atMs };
  }
  const { state, status = 0 } = change;
  if (state === undefined) return { kind: 'deleted', change, nextAtMs: next?.atMs };
  const begin = firstInRow(
    before,
    (other) => other.status === status,
    ({ previousStatus }) => previousStatus === status,
  );
  const problem =
    status === 0
      ? undefined
      : firstInRow(
          before,
          (other) => (other.status ?? 0) !== 0,
          ({ previousStatus = 0 }) => previousStatus !== 0,
        );
  const last = problem ?? begin;
  return {
    kind: 'recorded',
    state,
    status,
    change,
    begin,
    problem,
    isCut: isCut && last === before.at(-1),
    occurrences: { least: change.occurrences ?? 1, most: next?.previousOccurrences },
    next,
  };
}

/** The oldest of the newest consecutive changes that meet the condition, where each continues the one before. */
function firstInRow(
  changes: readonly RecordedChange[],
  isPart: (change: RecordedChange) => boolean,
  continues: (change: RecordedChange) => boolean,
): RecordedChange {
  let [first] = changes;
  for (const change of changes) {
    if (change.state === undefined || !isPart(change)) break;
    first = change;
    if (change.isFirst || !continues(change)) break;
  }
  if (first === undefined) throw new Error('there is no change');
  return first;
}
