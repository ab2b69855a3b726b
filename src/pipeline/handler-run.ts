import type { Clock } from '../ports/clock.ts';
import type { Handler } from '../resources/handler.ts';
import type { OutboxEntry } from '../store/records.ts';
import type { HandlerRun } from './handlers/handler-result.ts';
import { type PipeLimits, runPipeHandler } from './handlers/pipe.ts';
import { runSocketHandler } from './handlers/socket.ts';
import { payloadOf } from './payload.ts';

const RUNNABLE = new Set(['pipe', 'tcp', 'udp']);

/** Whether the handler runs by itself. A set does not; its members do. */
export const canRun = ({ type = '' }: Handler): boolean => RUNNABLE.has(type);

export interface HandlerRunnerPorts extends PipeLimits {
  mutatorExists(namespace: string, name: string): boolean;
}

/**
 * Returns a function that runs a handler with the mutated event of an outbox entry, until `signal` aborts it. It never
 * rejects.
 */
export function handlerRunner({ mutatorExists, ...limits }: HandlerRunnerPorts) {
  return async (
    handler: Handler,
    { namespace, event, notificationId }: OutboxEntry,
    clock: Clock,
    signal: AbortSignal,
  ): Promise<HandlerRun> => {
    const payload = await payloadOf(event, handler.mutator, { isStored: (name) => mutatorExists(namespace, name) });
    if ('failure' in payload) return { outcome: 'failed', reason: payload.failure, status: undefined };
    const input = { payload: payload.input, notificationId, signal };
    return handler.type === 'pipe'
      ? runPipeHandler(handler, input, clock, limits)
      : runSocketHandler(handler, input, clock);
  };
}
