import type { DecisionContext } from '../core/decision-context.ts';
import { mergeOwnEvent } from './own-event.ts';

export const QUARANTINE_CHECK = 'actor-quarantine';

/** Merges the event that lists the quarantined actors; it is critical while there is one. */
export function publishQuarantine(ctx: DecisionContext, backendName: string, quarantined: readonly string[]): void {
  mergeOwnEvent(ctx, backendName, {
    check: QUARANTINE_CHECK,
    status: quarantined.length === 0 ? 0 : 2,
    output:
      quarantined.length === 0 ? 'no actor is quarantined' : `quarantined after failures: ${quarantined.join(', ')}`,
  });
}
