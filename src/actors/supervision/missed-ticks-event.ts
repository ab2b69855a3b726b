import { randomUUID } from 'node:crypto';
import { eventCheckWithDefaults, eventWithDefaults } from '../../resources/event.ts';
import { SYSTEM_NAMESPACE } from '../../resources/namespace.ts';
import { mergeEvent } from '../events/merge-event.ts';
import { ensureOwnEntity } from './own-entity.ts';
import type { DecisionContext } from '../core/decision-context.ts';

export const MISSED_TICKS_CHECK = 'missed-ticks';
/** Checks that the output names. */
const MAX_NAMED = 20;

/** Merges the event that names the checks with a tick that had no outcome; it is critical while there is one. */
export function publishMissedTicks(ctx: DecisionContext, backendName: string, missed: readonly string[]): void {
  const entity = ensureOwnEntity(ctx, backendName);
  const check = {
    ...eventCheckWithDefaults({ metadata: { name: MISSED_TICKS_CHECK, namespace: SYSTEM_NAMESPACE }, interval: 60 }),
    status: missed.length === 0 ? 0 : 2,
    executed: ctx.nowS,
    issued: ctx.nowS,
    output: outputOf(missed),
  };
  const metadata = { namespace: SYSTEM_NAMESPACE };
  const event = { ...eventWithDefaults({ metadata }), id: randomUUID(), timestamp: ctx.nowS, entity, check };
  mergeEvent(ctx, event, { trustsSentHistory: false });
}

function outputOf(missed: readonly string[]): string {
  if (missed.length === 0) return 'every tick has an outcome';
  const more = missed.length > MAX_NAMED ? ` and ${missed.length - MAX_NAMED} more` : '';
  return `ticks without an outcome: ${missed.slice(0, MAX_NAMED).join(', ')}${more}`;
}
