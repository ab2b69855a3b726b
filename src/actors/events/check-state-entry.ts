import type { CheckEvent } from '../../resources/event.ts';
import { outputExcerpt } from '../../resources/redacted-excerpt.ts';
import type { CheckState } from '../../rules/check-state.ts';
import type { LedgerCause } from '../../store/ledger/ledger.ts';
import type { DecisionContext } from '../core/decision-context.ts';

/** The deadline that was reached because nothing was received. */
export interface Overdue {
  /** The last receipt, in steady time, ms. */
  lastReceivedAtMs: number;
  /** How long nothing may be missing after it, blind time excepted. */
  limitMs: number;
}

export interface MergedState {
  key: string;
  previous: CheckState | undefined;
  merged: CheckState;
  cause: LedgerCause;
  /** Set for an alert of the backend about something that is missing. */
  overdue?: (Overdue & { blindMs: number | undefined }) | undefined;
}

/** Records a change of the state, of the status or of the silences of a check. An event that changes none of them has no entry. */
export function recordCheckState(
  ctx: DecisionContext,
  event: CheckEvent,
  { key, previous, merged, cause, overdue }: MergedState,
): void {
  const { status, low_flap_threshold: low, high_flap_threshold: high } = event.check;
  const previousStatus = previous?.history.statuses.at(-1);
  const { silenced } = merged;
  const isSame = previous?.state === merged.state && previousStatus === status;
  if (isSame && isSameList(previous.silenced, silenced)) return;
  const inputs = { totalStateChange: merged.totalStateChange, low, high };
  ctx.record({
    actor: 'check-state',
    key,
    from: previous?.state ?? null,
    event: 'result.received',
    to: merged.state,
    cause,
    guards: low > 0 && high > 0 ? [{ name: 'flapping', passed: merged.state === 'flapping', inputs }] : [],
    details: {
      status,
      ...(previous === undefined || previousStatus === undefined
        ? {}
        : { previousStatus, previousOccurrences: previous.occurrences }),
      occurrences: merged.occurrences,
      ...(silenced.length === 0 ? {} : { silenced }),
      ...(overdue === undefined ? {} : { overdue: recorded(ctx, overdue) }),
      output: outputExcerpt(event),
    },
  });
}

const isSameList = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((name, index) => name === other[index]);

/** The ledger shows wall clock times. */
const recorded = (
  ctx: DecisionContext,
  { lastReceivedAtMs, limitMs, blindMs }: NonNullable<MergedState['overdue']>,
) => ({
  sinceMs: ctx.nowMs - (ctx.steadyMs - lastReceivedAtMs),
  limitMs,
  ...(blindMs === undefined ? {} : { blindMs }),
});
