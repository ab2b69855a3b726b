import type { DecisionContext } from '../core/decision-context.ts';
import { mergeOwnEvent } from './own-event.ts';

export const MISSED_TICKS_CHECK = 'missed-ticks';
/** Checks that the output names. */
const MAX_NAMED = 20;

/** Merges the event that names the checks with a tick that had no outcome; it is critical while there is one. */
export function publishMissedTicks(ctx: DecisionContext, backendName: string, missed: readonly string[]): void {
  const status = missed.length === 0 ? 0 : 2;
  mergeOwnEvent(ctx, backendName, { check: MISSED_TICKS_CHECK, status, output: outputOf(missed) });
}

function outputOf(missed: readonly string[]): string {
  if (missed.length === 0) return 'every tick has an outcome';
  const more = missed.length > MAX_NAMED ? ` and ${missed.length - MAX_NAMED} more` : '';
  return `ticks without an outcome: ${missed.slice(0, MAX_NAMED).join(', ')}${more}`;
}
