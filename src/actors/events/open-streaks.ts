import { withStreaks } from '../../store/records/encoded-event.ts';
import { notificationKey } from '../../store/encoding/keyspace.ts';
import type { EventRecord, OpenStreak, OpenStreaks } from '../../store/records/records.ts';
import type { DecisionContext } from '../core/decision-context.ts';

/** The open streaks that the record of an event holds, and the characters of their reasons. With more they are stored apart. */
const MAX_STREAKS_IN_EVENT = 16;
const MAX_REASONS_IN_EVENT = 2_000;

/** The stored event of a key. It also has what a pending deletion of its check TTL hides, so that it can be written again. */
function eventRecord(ctx: DecisionContext, key: string): EventRecord | undefined {
  const visible = ctx.get('events', key);
  return visible === undefined || !ctx.decision.seesDeletions ? visible : ctx.decision.stored.get('events', key);
}

const fitsInEvent = (streaks: readonly OpenStreak[]): boolean =>
  streaks.length <= MAX_STREAKS_IN_EVENT &&
  streaks.reduce((characters, { reason }) => characters + reason.length, 0) <= MAX_REASONS_IN_EVENT;

/** Replaces the open streaks of an event's key. They are in the record of the event, which each result writes anyway, if it exists and they are few. */
export function changeStreaks(
  ctx: DecisionContext,
  key: string,
  change: (streaks: readonly OpenStreak[]) => readonly OpenStreak[],
): void {
  const record = eventRecord(ctx, key);
  const own = record === undefined ? 'apart' : (record.streaks ?? []);
  const areApart = own === 'apart';
  const before = own === 'apart' ? (ctx.get('openStreaks', key) ?? []) : own;
  const after = change(before);
  if (after === before) return;
  if (record !== undefined && fitsInEvent(after)) {
    if (areApart) ctx.delete('openStreaks', key);
    ctx.put('events', key, withStreaks(record, after));
    return;
  }
  // The streaks of an earlier event of the key may have remained.
  if (!areApart) for (const streak of ctx.get('openStreaks', key) ?? []) endStreak(ctx, key, streak);
  if (after.length === 0) ctx.delete('openStreaks', key);
  else ctx.put('openStreaks', key, after);
  if (record !== undefined && !areApart) ctx.put('events', key, withStreaks(record, 'apart'));
}

/** Stores the number of outcomes of a streak and the time of the last one in its notification. */
export function endStreak(ctx: DecisionContext, key: string, { number, count, atMs }: OpenStreak): void {
  const logKey = notificationKey(key, number);
  const notification = ctx.get('notificationLog', logKey);
  if (notification !== undefined) {
    ctx.put('notificationLog', logKey, { ...notification, count, atMs, isOpen: undefined });
  }
}

/** Ends the streaks of an event that is deleted. Those that are stored apart stay open. */
export function endStreaks(ctx: DecisionContext, key: string, streaks: OpenStreaks = []): void {
  if (streaks !== 'apart') for (const streak of streaks) endStreak(ctx, key, streak);
}
