import { eventOf } from '../../store/records/records.ts';
import type { EventRecord } from '../../store/records/records.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import { countEvent } from './counted-events.ts';
import { endIncident } from './incidents.ts';
import { leaveAggregates } from './join-aggregates.ts';
import { endStreaks } from './open-streaks.ts';
import { publishEvent } from './publish.ts';

const RESOLVED = 'Resolving due to entity deregistering';

/** Why an event is deleted, as the ledger names it. */
export type EventEnd = 'event.deleted' | 'entity.deleted' | 'entity.deregistered';

/** Deletes the stored event of `key`, and ends its check TTL. The event of a deregistered entity is resolved. */
export function deleteEvent(ctx: DecisionContext, key: string, end: EventEnd): void {
  const record = ctx.get('events', key);
  if (record === undefined) return;
  if (record.ttl !== undefined && !ctx.isQuarantined('check-ttl', key)) {
    ctx.send('check-ttl', key, { type: end === 'event.deleted' ? end : 'entity.deleted' });
  }
  endStreaks(ctx, key, record.streaks);
  countEvent(ctx, key, record, undefined);
  ctx.delete('events', key);
  ctx.room.removed(key.slice(0, key.lastIndexOf('/')));
  endIncident(ctx, key, record.state);
  leaveAggregates(ctx, key, record);
  ctx.record({ actor: 'check-state', key, from: record.state.state, event: end, to: null });
  if (end === 'entity.deregistered') publishResolution(ctx, record);
}

/** Publishes the resolution of an event. The history of two entries lets incident filters detect the resolution. */
function publishResolution(ctx: DecisionContext, record: EventRecord): void {
  const stored = eventOf(record);
  const history = [...(stored.check.history ?? []).slice(-1), { status: 0, executed: ctx.nowS }];
  publishEvent(ctx, { ...stored, check: { ...stored.check, status: 0, output: RESOLVED, history } });
}
