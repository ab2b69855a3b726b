import type { Clock } from '../ports/clock.ts';
import type { Handler } from '../resources/handler.ts';
import { redactEvent } from '../rules/redaction.ts';
import type { Notification, OutboxEntry } from '../store/records.ts';
import { runPipeHandler } from './handlers/pipe.ts';
import { runSocketHandler } from './handlers/socket.ts';

/** What one attempt came to. */
export type HandlerResult = Pick<Notification, 'outcome' | 'reason' | 'status'>;

/** Runs a handler with the event of an outbox entry, its secrets redacted, until `signal` ends it. Never rejects. */
export async function runHandler(
  handler: Handler,
  entry: OutboxEntry,
  clock: Clock,
  signal: AbortSignal,
): Promise<HandlerResult> {
  if (handler.mutator !== undefined) {
    return { outcome: 'failed', reason: `mutator "${handler.mutator}" does not exist`, status: undefined };
  }
  const payload = JSON.stringify(redactEvent(entry.event));
  const input = { payload, notificationId: entry.notificationId, signal };
  return handler.type === 'pipe' ? runPipeHandler(handler, input, clock) : runSocketHandler(handler, input, clock);
}
