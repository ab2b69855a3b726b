import type { Clock } from '../ports/clock.ts';
import type { Handler } from '../resources/handler.ts';
import type { Notification, OutboxEntry } from '../store/records.ts';
import { runPipeHandler } from './handlers/pipe.ts';
import { runSocketHandler } from './handlers/socket.ts';
import { payloadOf } from './payload.ts';

/** What one attempt came to. */
export type HandlerResult = Pick<Notification, 'outcome' | 'reason' | 'status'>;

/** Runs a handler with what its mutator makes of the event of an outbox entry, until `signal` ends it. Never rejects. */
export async function runHandler(
  handler: Handler,
  entry: OutboxEntry,
  clock: Clock,
  signal: AbortSignal,
): Promise<HandlerResult> {
  const payload = payloadOf(entry.event, handler.mutator);
  if ('failure' in payload) return { outcome: 'failed', reason: payload.failure, status: undefined };
  const input = { payload: payload.text, notificationId: entry.notificationId, signal };
  return handler.type === 'pipe' ? runPipeHandler(handler, input, clock) : runSocketHandler(handler, input, clock);
}
