import type { DecisionContext } from '../core/decision-context.ts';

/** Deletes the stored event of `key`, and ends its check TTL. */
export function deleteEvent(ctx: DecisionContext, key: string, event: 'event.deleted' | 'entity.deleted'): void {
  const record = ctx.get('events', key);
  if (record === undefined) return;
  if (record.ttl !== undefined && !ctx.isQuarantined('check-ttl', key)) ctx.send('check-ttl', key, { type: event });
  ctx.delete('events', key);
  ctx.record({ actor: 'check-state', key, from: record.state.state, event, to: null });
}
