import { withTtl } from '../../store/records/encoded-event.ts';
import type { DecisionContext } from '../core/decision-context.ts';

/** Ends the check TTL of an event whose check was deleted, and keeps the event. */
export function disarmTtl(ctx: DecisionContext, key: string): void {
  const record = ctx.get('events', key);
  if (record?.ttl === undefined) return;
  if (!ctx.isQuarantined('check-ttl', key)) ctx.send('check-ttl', key, { type: 'check.deleted' });
  ctx.put('events', key, withTtl(record, undefined));
}
