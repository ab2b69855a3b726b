import {
  deadLetterKey,
  eventAddress,
  eventOfNotification,
  idOfDeadLetter,
  notificationKey,
  notificationOfEventKey,
  numberOfEventNotification,
} from '../../store/encoding/keyspace.ts';
import { ifIntact } from '../../store/encoding/sealed.ts';
import { readResource } from '../../store/resource-store.ts';
import type { OpenStreak } from '../../store/records/records.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import { endStreak } from './open-streaks.ts';

/** A notification that may be removed, by its key in the index by event. */
export interface RemovableNotification {
  key: string;
  /** Removed if its last outcome was before this time, Unix ms; undefined removes it at any time, also while it is counted. */
  beforeMs: number | undefined;
}

/** Removes a notification and its index entries, unless it is newer, or still counted. Returns whether it is gone. @throws CorruptRecord */
export function forgetNotification(ctx: DecisionContext, { key, beforeMs }: RemovableNotification): boolean {
  const event = eventOfNotification(key);
  const number = numberOfEventNotification(key);
  const logKey = notificationKey(event, number);
  const notification = ctx.get('notificationLog', logKey);
  if (notification !== undefined) {
    const { id, atMs, isDeadLetter } = notification;
    const isKept = beforeMs !== undefined && (atMs >= beforeMs || isCounted(ctx, event, number));
    if (isKept) return false;
    if (ctx.get('notificationsById', id) === logKey) ctx.delete('notificationsById', id);
    if (isDeadLetter === true) ctx.delete('deadLetters', deadLetterKey(number, id));
    ctx.delete('notificationLog', logKey);
  }
  ctx.delete('notificationsByEvent', notificationOfEventKey(event, number));
  return true;
}

/** Whether an open streak counts further outcomes in the notification. */
function isCounted(ctx: DecisionContext, event: string, number: number): boolean {
  const known = ctx.get('events', event)?.streaks ?? [];
  const apart = ctx.get('openStreaks', event) ?? [];
  const has = (streaks: readonly OpenStreak[]): boolean => streaks.some((streak) => streak.number === number);
  return has(apart) || (known !== 'apart' && has(known));
}

/**
 * Ends those of the streaks of a key that are stored apart and had no outcome since a time, Unix ms, and those of a deleted namespace.
 *
 * @throws CorruptRecord
 */
export function endOldStreaks(ctx: DecisionContext, key: string, beforeMs: number): void {
  const streaks = ctx.get('openStreaks', key);
  if (readResource(ctx.decision, 'namespaces', undefined, eventAddress(key).namespace) === undefined) {
    ctx.delete('openStreaks', key);
    return;
  }
  if (streaks === undefined || ctx.get('events', key)?.streaks === 'apart') return;
  const kept = streaks.filter(({ atMs }) => atMs >= beforeMs);
  if (kept.length === streaks.length) return;
  for (const streak of streaks) if (!kept.includes(streak)) endStreak(ctx, key, streak);
  if (kept.length === 0) ctx.delete('openStreaks', key);
  else ctx.put('openStreaks', key, kept);
}

/** Removes a dead letter. Its notification stays, and can no longer be replayed. A damaged notification is left as it is. */
export function dropDeadLetter(ctx: DecisionContext, key: string): void {
  const logKey = ifIntact(() => ctx.get('notificationsById', idOfDeadLetter(key)));
  const notification = logKey === undefined ? undefined : ifIntact(() => ctx.get('notificationLog', logKey));
  if (logKey !== undefined && notification?.isDeadLetter === true) {
    ctx.put('notificationLog', logKey, { ...notification, isDeadLetter: undefined });
  }
  ctx.delete('deadLetters', key);
}
