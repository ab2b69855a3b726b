import { randomUUID } from 'node:crypto';
import { eventCheckWithDefaults, eventWithDefaults } from '../../resources/event.ts';
import { SYSTEM_NAMESPACE } from '../../resources/namespace.ts';
import { mergeEvent } from '../events/merge-event.ts';
import { ensureOwnEntity } from './own-entity.ts';
import type { DecisionContext } from '../core/decision-context.ts';

export const QUARANTINE_CHECK = 'actor-quarantine';

/** Merges the event that lists the quarantined actors; it is critical while there is one. */
export function publishQuarantine(ctx: DecisionContext, backendName: string, quarantined: readonly string[]): void {
  const entity = ensureOwnEntity(ctx, backendName);
  const output =
    quarantined.length === 0 ? 'no actor is quarantined' : `quarantined after failures: ${quarantined.join(', ')}`;
  const check = {
    ...eventCheckWithDefaults({ metadata: { name: QUARANTINE_CHECK, namespace: SYSTEM_NAMESPACE }, interval: 60 }),
    status: quarantined.length === 0 ? 0 : 2,
    executed: ctx.nowS,
    issued: ctx.nowS,
    output,
  };
  const metadata = { namespace: SYSTEM_NAMESPACE };
  const event = { ...eventWithDefaults({ metadata }), id: randomUUID(), timestamp: ctx.nowS, entity, check };
  mergeEvent(ctx, event, { trustsSentHistory: false });
}
