import type { CheckEvent } from '../../resources/event.ts';
import { outputExcerpt } from '../../resources/redacted-excerpt.ts';
import type { CheckState } from '../../rules/check-state.ts';
import type { LedgerCause } from '../../store/ledger.ts';
import type { DecisionContext } from '../core/decision-context.ts';

/** Records a change of the state or of the status of a check. An event that changes neither has no entry. */
export function recordCheckState(
  ctx: DecisionContext,
  event: CheckEvent,
  {
    key,
    previous,
    merged,
    cause,
  }: { key: string; previous: CheckState | undefined; merged: CheckState; cause: LedgerCause },
): void {
  const { status, low_flap_threshold: low, high_flap_threshold: high } = event.check;
  const previousStatus = previous?.history.statuses.at(-1);
  if (previous?.state === merged.state && previousStatus === status) return;
  const { silenced } = merged;
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
      ...(previousStatus === undefined ? {} : { previousStatus }),
      occurrences: merged.occurrences,
      ...(silenced.length === 0 ? {} : { silenced }),
      output: outputExcerpt(event),
    },
  });
}
