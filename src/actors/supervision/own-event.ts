import { randomUUID } from 'node:crypto';
import { eventCheckWithDefaults, eventWithDefaults } from '../../resources/event.ts';
import { SYSTEM_NAMESPACE } from '../../resources/namespace.ts';
import { eventKey } from '../../store/encoding/keyspace.ts';
import { mergeEvent } from '../events/merge-event.ts';
import { ensureOwnEntity } from './own-entity.ts';
import type { DecisionContext } from '../core/decision-context.ts';

/** The result of a reserved check of the backend's own entity. */
export interface OwnResult {
  check: string;
  status: 0 | 2;
  output: string;
}

/** Merges an event of the backend's own entity. */
export function mergeOwnEvent(
  ctx: DecisionContext,
  backendName: string,
  { check: name, status, output }: OwnResult,
): void {
  const entity = ensureOwnEntity(ctx, backendName);
  const check = {
    ...eventCheckWithDefaults({ metadata: { name, namespace: SYSTEM_NAMESPACE }, interval: 60 }),
    status,
    executed: ctx.nowS,
    issued: ctx.nowS,
    output,
  };
  const metadata = { namespace: SYSTEM_NAMESPACE };
  const event = { ...eventWithDefaults({ metadata }), id: randomUUID(), timestamp: ctx.nowS, entity, check };
  mergeEvent(ctx, event, { trustsSentHistory: false });
}

/** Merges the event unless the stored one says the same. No event means the same as one that passes. */
export function restoreOwnEvent(ctx: DecisionContext, backendName: string, result: OwnResult): void {
  const stored = ctx.get('events', eventKey(SYSTEM_NAMESPACE, backendName, result.check))?.event.check;
  const isSame =
    result.status === 0 ? (stored?.status ?? 0) === 0 : stored?.status === 2 && stored.output === result.output;
  if (!isSame) mergeOwnEvent(ctx, backendName, result);
}
