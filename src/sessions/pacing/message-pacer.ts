import type { Clock } from '../../ports/clock.ts';
import { MessageQueue } from './message-queue.ts';

/**
 * The time for messages of all connections in one tick of the event loop, ms. The last message may take longer. What one read of a
 * socket brings is in general processed in its tick: messages that wait take memory.
 */
const TICK_MS = 50;

/** Processes messages for at most 50 ms in each tick of the event loop. Connections with waiting messages are served round robin, one message each. */
export class MessagePacer {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** In the order in which they are served. */
  readonly #waiting = new Set<WaitingMessages>();
  #beganAtMs = 0;
  #isTickOpen = false;
  #emptyWaiters: (() => void)[] = [];

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Whether this tick has time for a further message. */
  get hasTime(): boolean {
    this.#openTick();
    return this.#clock.monotonicMs() - this.#beganAtMs < TICK_MS;
  }

  add(connection: WaitingMessages): void {
    this.#waiting.add(connection);
    this.#openTick();
  }

  /** Resolves when no message waits. */
  async empty(): Promise<void> {
    if (this.#waiting.size > 0) await new Promise<void>((resolve) => this.#emptyWaiters.push(resolve));
  }

  #openTick(): void {
    if (this.#isTickOpen) return;
    this.#isTickOpen = true;
    this.#beganAtMs = this.#clock.monotonicMs();
    setImmediate(() => {
      this.#isTickOpen = false;
      if (this.#waiting.size > 0) this.#run();
    });
  }

  #run(): void {
    this.#openTick();
    // A connection that is added again moves behind the others, and the loop comes to it again.
    for (const connection of this.#waiting) {
      this.#waiting.delete(connection);
      if (connection.processNext()) this.#waiting.add(connection);
      if (!this.hasTime) break;
    }
    if (this.#waiting.size > 0) return;
    for (const resolve of this.#emptyWaiters.splice(0)) resolve();
  }
}

export interface WaitingMessagesPorts {
  pacer: MessagePacer;
  process(message: Buffer): void;
  /** Stops reading, so that at most what `ws` has already read waits. */
  pause(): void;
  /** No message waits any more. */
  processed(): void;
}

/** The messages of one connection that wait to be processed. */
export class WaitingMessages {
  readonly #ports: WaitingMessagesPorts;
  readonly #messages = new MessageQueue();
  #end: (() => void) | undefined;

  constructor(ports: WaitingMessagesPorts) {
    this.#ports = ports;
  }

  get isEmpty(): boolean {
    return this.#messages.isEmpty;
  }

  /** Processes a message, at once unless others wait or this tick has no time left. */
  receive(message: Buffer): void {
    const { pacer, process, pause } = this.#ports;
    if (this.isEmpty && pacer.hasTime) {
      process(message);
      return;
    }
    this.#messages.push(message);
    pause();
    pacer.add(this);
  }

  /** Calls `end` when the last message was processed. No message may follow. */
  end(end: () => void): void {
    if (this.isEmpty) end();
    else this.#end = end;
  }

  /** Processes the oldest message. Returns whether others wait. */
  processNext(): boolean {
    const message = this.#messages.shift();
    if (message !== undefined) this.#ports.process(message);
    if (!this.isEmpty) return true;
    this.#ports.processed();
    this.#end?.();
    return false;
  }
}
