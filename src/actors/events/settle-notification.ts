import { deadLetterKey } from '../../store/encoding/keyspace.ts';
import { CorruptRecord } from '../../store/encoding/sealed.ts';
import type { Attempts, Notification, OutboxEntry } from '../../store/records/records.ts';
import { type Decider, internal } from '../core/decider.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import { recordNotification } from './notification-records.ts';

/** An entry of the outbox with its outcome. */
export interface SettledEntry {
  outboxKey: string;
  /** The key of the event. */
  key: string;
  notification: Notification;
  /** The entry itself, which is kept if it is a dead letter; it is read where it is not given. */
  entry?: OutboxEntry | undefined;
}

/** Removes an entry from the outbox, records its outcome, and keeps it if it is a dead letter. */
export function settle(ctx: DecisionContext, { outboxKey, key, notification, entry }: SettledEntry): void {
  const { isDeadLetter = false, id } = notification;
  const kept = isDeadLetter ? (entry ?? ctx.get('outbox', outboxKey)) : undefined;
  ctx.delete('outbox', outboxKey);
  if (hasAttempts(ctx, outboxKey)) ctx.delete('attempts', outboxKey);
  const number = recordNotification(ctx, key, notification);
  if (kept !== undefined) ctx.put('deadLetters', deadLetterKey(number, id), kept);
}

/** A damaged record of attempts exists as well. */
function hasAttempts(ctx: DecisionContext, outboxKey: string): boolean {
  try {
    return ctx.get('attempts', outboxKey) !== undefined;
  } catch (error) {
    if (!(error instanceof CorruptRecord)) throw error;
    return true;
  }
}

/** Stores how often an entry of the outbox was tried. Resolves when that is durable. @throws StoreUnavailable */
export async function noteAttempts(
  decider: Pick<Decider, 'decide'>,
  outboxKey: string,
  attempts: Attempts,
): Promise<void> {
  await decider.decide({ ...internal('handler.ended'), unbounded: true }, (ctx) => {
    if (ctx.get('outbox', outboxKey) !== undefined) ctx.put('attempts', outboxKey, attempts);
  }).durable;
}

/** Resolves when the outcome is durable. @throws StoreUnavailable */
export async function settleDurably(decider: Pick<Decider, 'decide'>, settled: SettledEntry): Promise<void> {
  const { eventId } = settled.notification;
  const input = eventId === undefined ? internal('handler.ended') : { cause: { eventId } };
  await decider.decide({ ...input, unbounded: true }, (ctx) => {
    settle(ctx, settled);
  }).durable;
}
