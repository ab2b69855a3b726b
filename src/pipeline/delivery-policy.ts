import type { HandlerDelivery } from '../resources/handler-delivery.ts';
import { MAX_RUNNING_OF_HANDLER, type ScheduledRun } from './fair-scheduler.ts';
import type { HandlerResult } from './handlers/handler-result.ts';

export interface DeliveryPolicyPorts {
  /** The type of a handler, and what its annotations say. Undefined when it does not exist. */
  delivery(namespace: string, handler: string): (HandlerDelivery & { type: string | undefined }) | undefined;
  /** The time for which tcp and udp handlers are tried again, ms; 0 = never. */
  handlerRetryForMs: number;
}

/** The current settings of handlers for their delivery. */
export class DeliveryPolicy {
  readonly #ports: DeliveryPolicyPorts;

  constructor(ports: DeliveryPolicyPorts) {
    this.#ports = ports;
  }

  /** How many runs of the handler may be active. */
  maxParallel({ namespace, handler }: ScheduledRun): number {
    return this.#ports.delivery(namespace, handler)?.maxParallel ?? MAX_RUNNING_OF_HANDLER;
  }

  /** How long an event that the handler did not handle is tried again; 0 = not at all. A command may have done half of its work. */
  retryForMs({ namespace, handler }: ScheduledRun): number {
    const delivery = this.#ports.delivery(namespace, handler);
    if (delivery?.retryForMs !== undefined) return delivery.retryForMs;
    return delivery?.type === 'tcp' || delivery?.type === 'udp' ? this.#ports.handlerRetryForMs : 0;
  }

  /** Whether a later attempt may succeed. A datagram that is too long will never be sent. */
  mayRetry(run: ScheduledRun, result: HandlerResult): boolean {
    if (result.outcome !== 'failed' && result.outcome !== 'timed-out') return false;
    return this.#ports.delivery(run.namespace, run.handler)?.type === 'pipe' || result.isUnreachable === true;
  }
}
