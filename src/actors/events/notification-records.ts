import { randomUUID } from 'node:crypto';
import {
  namespaceOfKey,
  NOTIFICATION_FLOORS,
  notificationKey,
  notificationOfEventKey,
  NOTIFICATIONS_PER_MS,
} from '../../store/encoding/keyspace.ts';
import type { Notification, OpenStreak, StreakOutcome } from '../../store/records/records.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import { changeStreaks, endStreak, type KeyStreaks } from './open-streaks.ts';

/** The key of `meta` with the number of the last notification. */
const NUMBER_KEY = 'notification-number';
/** Longer reasons are cut. */
const MAX_REASON_CHARACTERS = 1_000;

const NO_OTHERS: readonly string[] = [];

/** A handler that an event names, or a workflow of one of its pipelines. */
export interface NamedHandler {
  handler: string;
  pipeline?: string | undefined;
  workflow?: string | undefined;
  /** Its number among the runs of an event with these names, if it is not the first. */
  nth?: number | undefined;
  /** Further handlers with the same outcome. */
  others?: readonly string[] | undefined;
}

/** An outcome that was decided without a run. */
interface Undelivered {
  outcome: StreakOutcome;
  reason: string;
  atMs: number;
  /** Makes the notification of the first one in a row. */
  notification: () => Notification;
}

/**
 * Records the outcome of a handler or workflow with an event of this key. An outcome without a run that equals the last one is only
 * counted.
 * @returns the number of the notification
 */
export function recordNotification(ctx: DecisionContext, key: string, notification: Notification): number {
  const { outcome, decidedAtMs, atMs } = notification;
  const reason = notification.reason.slice(0, MAX_REASON_CHARACTERS);
  const bounded = { ...notification, reason };
  count(ctx, key, notification.handler, outcome);
  return changeStreaks(ctx, key, (streaks) => {
    if (outcome === 'denied' || outcome === 'skipped') {
      return continueStreak(ctx, streaks, notification, { outcome, reason, atMs, notification: () => bounded });
    }
    endStreakOf(ctx, streaks, notification, decidedAtMs);
    return append(ctx, key, bounded);
  });
}

/** Records that a filter denied the event. The reason says which one, and why. */
export function recordDenied(ctx: DecisionContext, streaks: KeyStreaks, named: NamedHandler, reason: string): void {
  recordUndelivered(ctx, streaks, named, 'denied', reason);
}

/** Records that a handler did not run although no filter denied the event. */
export function recordSkipped(ctx: DecisionContext, streaks: KeyStreaks, named: NamedHandler, reason: string): void {
  recordUndelivered(ctx, streaks, named, 'skipped', reason);
}

/** Records that a run is certain. Later outcomes without a run do not continue the streak before it. */
export function recordRunAhead(ctx: DecisionContext, streaks: KeyStreaks, named: NamedHandler): void {
  endStreakOf(ctx, streaks, named, Infinity);
}

function recordUndelivered(
  ctx: DecisionContext,
  streaks: KeyStreaks,
  named: NamedHandler,
  outcome: StreakOutcome,
  fullReason: string,
): void {
  const { handler, pipeline, workflow, nth, others = NO_OTHERS } = named;
  const { nowMs: atMs } = ctx;
  const reason = fullReason.slice(0, MAX_REASON_CHARACTERS);
  count(ctx, streaks.key, handler, outcome);
  for (const name of others) count(ctx, streaks.key, name, outcome);
  continueStreak(ctx, streaks, named, {
    outcome,
    reason,
    atMs,
    notification: () => ({
      id: randomUUID(),
      handler,
      pipeline,
      workflow,
      nth,
      others: others.length === 0 ? undefined : others,
      outcome,
      reason,
      status: undefined,
      decidedAtMs: atMs,
      atMs,
      durationMs: 0,
    }),
  });
}

function count(ctx: DecisionContext, key: string, handler: string, outcome: Notification['outcome']): void {
  ctx.decision.tally.notify(namespaceOfKey(key), handler, outcome);
}

const isOf = (streak: OpenStreak, { handler, pipeline, workflow, nth }: NamedHandler): boolean =>
  streak.handler === handler && streak.pipeline === pipeline && streak.workflow === workflow && streak.nth === nth;

/** Returns the streak with one more outcome. A literal, because V8 changes members of a spread copy far more slowly. */
const withOneMore = (streak: OpenStreak, atMs: number): OpenStreak => {
  const { number, handler, pipeline, workflow, nth, others, outcome, reason, count: before } = streak;
  return { number, handler, pipeline, workflow, nth, others, outcome, reason, count: before + 1, atMs };
};

/** Counts the outcome in the open streak of its handler, or ends that one and begins another. Returns the number of its notification. */
function continueStreak(
  ctx: DecisionContext,
  streaks: KeyStreaks,
  named: NamedHandler,
  { outcome, reason, atMs, notification }: Undelivered,
): number {
  const { key } = streaks;
  const { handler, pipeline, workflow, nth, others = NO_OTHERS } = named;
  const list = streaks.list(ctx);
  const index = list.findIndex((streak) => isOf(streak, named));
  const open = list[index];
  if (open?.outcome === outcome && open.reason === reason && hasOthers(ctx, key, open, others)) {
    streaks.replace(list.with(index, withOneMore(open, atMs)));
    return open.number;
  }
  if (open !== undefined) endStreak(ctx, key, open);
  const number = append(ctx, key, { ...notification(), isOpen: true });
  const names = { handler, pipeline, workflow, nth, others: others.length === 0 ? undefined : others.length };
  const begun: OpenStreak = { number, ...names, outcome, reason, count: 1, atMs };
  streaks.replace(open === undefined ? [...list, begun] : list.with(index, begun));
  return number;
}

/** Whether the notification of a streak lists these further handlers. It is read only if it lists as many. */
function hasOthers(
  ctx: DecisionContext,
  key: string,
  { number, others: count = 0 }: OpenStreak,
  others: readonly string[],
): boolean {
  if (count !== others.length) return false;
  if (count === 0) return true;
  const listed = ctx.get('notificationLog', notificationKey(key, number))?.others;
  return listed?.every((name, index) => name === others[index]) === true;
}

/** Ends the open streak of the handler if its first event was decided before this time. */
function endStreakOf(ctx: DecisionContext, streaks: KeyStreaks, named: NamedHandler, beforeMs: number): void {
  const { key } = streaks;
  const list = streaks.list(ctx);
  const open = list.find((streak) => isOf(streak, named) && decidedAtMs(ctx, key, streak) < beforeMs);
  if (open === undefined) return;
  endStreak(ctx, key, open);
  streaks.replace(list.filter((streak) => streak !== open));
}

/** The time at which the first event of a streak was decided. A filter may deny it after later events were decided. */
const decidedAtMs = (ctx: DecisionContext, key: string, { number }: OpenStreak): number =>
  ctx.get('notificationLog', notificationKey(key, number))?.decidedAtMs ?? number / NOTIFICATIONS_PER_MS;

/** Hides the notifications of a namespace that is deleted, from then on. They are removed later. */
export function hideNotifications(ctx: DecisionContext, namespace: string): void {
  const last = (ctx.get('meta', NUMBER_KEY) as number | undefined) ?? 0;
  ctx.put('meta', NOTIFICATION_FLOORS + namespace, last);
}

/** Stores a new notification. */
function append(ctx: DecisionContext, key: string, notification: Notification): number {
  const last = (ctx.get('meta', NUMBER_KEY) as number | undefined) ?? 0;
  const number = Math.max(last + 1, Math.floor(ctx.nowMs) * NOTIFICATIONS_PER_MS);
  const logKey = notificationKey(key, number);
  ctx.put('meta', NUMBER_KEY, number);
  ctx.put('notificationLog', logKey, notification);
  ctx.put('notificationsByEvent', notificationOfEventKey(key, number), true);
  ctx.put('notificationsById', notification.id, logKey);
  return number;
}
