import { randomUUID } from 'node:crypto';
import { eventCheckWithDefaults, eventWithDefaults } from '../../resources/event.ts';
import { SYSTEM_NAMESPACE } from '../../resources/namespace.ts';
import type { LedgerHead } from '../../store/ledger/ledger.ts';
import { readResource } from '../../store/resource-store.ts';
import { ensureOwnEntity } from './own-entity.ts';
import { publishEvent } from '../events/publish.ts';
import type { DecisionContext } from '../core/decision-context.ts';

const ANCHOR_CHECK = 'ledger-anchor';

/** `<number>:<hash>`. Kept outside the store, it later proves that no entry up to it was removed or rewritten. */
export const anchorOf = ({ seq, hash }: LedgerHead): string => `${seq}:${hash}`;

/**
 * Sends the ledger's head to a handler of the backend's own namespace, as an event that is not stored. Returns whether the handler
 * exists.
 */
export function publishAnchor(ctx: DecisionContext, backendName: string, handler: string, head: LedgerHead): boolean {
  const namespace = SYSTEM_NAMESPACE;
  const check = eventCheckWithDefaults({
    metadata: { name: ANCHOR_CHECK, namespace },
    interval: 3_600,
    handlers: [handler],
    executed: ctx.nowS,
    issued: ctx.nowS,
    output: anchorOf(head),
  });
  publishEvent(ctx, {
    ...eventWithDefaults({ timestamp: ctx.nowS, metadata: { namespace } }),
    id: randomUUID(),
    entity: ensureOwnEntity(ctx, backendName),
    check,
  });
  return readResource(ctx.decision, 'handlers', namespace, handler) !== undefined;
}
