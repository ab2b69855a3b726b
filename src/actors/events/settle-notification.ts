import { deadLetterKey } from '../../store/keyspace.ts';
import type { Attempts, Notification, OutboxEntry } from '../../store/records.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import { recordNotification } from './notification-records.ts';

/**
 * Removes an entry from the outbox and records its outcome. The entry of a dead letter is kept; it is read where it is not given.
 */
export function settle(
  ctx: DecisionContext,
  outboxKey: string,
  key: string,
  notification: Notification,
  entry?: OutboxEntry,
): void {
  const { isDeadLetter = false, id } = notification;
  const kept = isDeadLetter ? (entry ?? ctx.get('outbox', outboxKey)) : undefined;
  ctx.delete('outbox', outboxKey);
  if (ctx.get('attempts', outboxKey) !== undefined) ctx.delete('attempts', outboxKey);
  const number = recordNotification(ctx, key, notification);
  if (kept !== undefined) ctx.put('deadLetters', deadLetterKey(number, id), kept);
}

/** Stores how often an entry of the outbox was tried. */
export function noteAttempts(ctx: DecisionContext, outboxKey: string, attempts: Attempts): void {
  if (ctx.get('outbox', outboxKey) !== undefined) ctx.put('attempts', outboxKey, attempts);
}
