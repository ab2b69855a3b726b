import type { EventAddress } from '../store/encoding/keyspace.ts';
import type { NotificationStore } from '../store/notification-store.ts';
import type { Excerpt, HandlerOutcome } from './explanation.ts';

/** The maximum number of outcomes of one event that are explained, the newest first. */
const MAX_OUTCOMES = 50;

/** Finds the outcomes of handlers, or of one handler, with the events that were decided within a time, newest first. */
export function outcomesOf(
  notifications: Pick<NotificationStore, 'around'>,
  address: EventAddress,
  { fromMs, atMs, handler }: { fromMs: number; atMs: number; handler: string | undefined },
): Excerpt<HandlerOutcome> {
  const { before, after } = notifications.around(address, atMs, MAX_OUTCOMES + 1, handler);
  const later = after.filter(({ decidedAtMs }) => decidedAtMs <= atMs).toReversed();
  const known = before.filter((notification) => notification.decidedAtMs >= fromMs || notification.atMs >= fromMs);
  const all = [
    ...later.map((notification) => ({ notification, isLater: true })),
    ...known.map((notification) => ({ notification, isLater: false })),
  ];
  return { items: all.slice(0, MAX_OUTCOMES), hasMore: all.length > MAX_OUTCOMES };
}
