import type { Clock } from '../../ports/clock.ts';
import { MessageQueue } from './message-queue.ts';

/**
 * The time for messages in one tick of the event loop, ms: for those of one connection as they arrive, and for those of all
 * connections that waited. The last message may take longer. What one read of a socket brings is usually processed in its tick,
 * because messages that wait take memory.
 */
const TICK_MS = 35;

/** Processes the messages that wait for a further tick of the event loop. Their connections are served round robin, one message each. */
export class MessagePacer {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** In the order in which they are served. */
  readonly #waiting = new Set<WaitingMessages>();
  #isTickOpen = false;
  #tick = 0;
  #emptyWaiters: (() => void)[] = [];

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** The number of this tick. */
  get tick(): number {
    this.#openTick();
    return this.#tick;
  }

  /** Milliseconds on a clock that never jumps. */
  nowMs(): number {
    return this.#clock.monotonicMs();
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
    this.#tick += 1;
    setImmediate(() => {
      this.#isTickOpen = false;
      if (this.#waiting.size > 0) this.#run();
    });
  }

  #run(): void {
    this.#openTick();
    const beganAtMs = this.nowMs();
    // A connection that is added again moves behind the others, and the loop comes to it again.
    for (const connection of this.#waiting) {
      this.#waiting.delete(connection);
      if (connection.processNext()) this.#waiting.add(connection);
      if (this.nowMs() - beganAtMs >= TICK_MS) break;
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
  #tick = 0;
  /** The time that messages took in this tick, ms. */
  #usedMs = 0;

  constructor(ports: WaitingMessagesPorts) {
    this.#ports = ports;
  }

  get isEmpty(): boolean {
    return this.#messages.isEmpty;
  }

  /** Processes a message, at once unless others wait or those of this tick took long. */
  receive(message: Buffer): void {
    const { pacer, process, pause } = this.#ports;
    if (this.isEmpty && this.#hasTime()) {
      const beganAtMs = pacer.nowMs();
      process(message);
      this.#usedMs += pacer.nowMs() - beganAtMs;
      return;
    }
    this.#messages.push(message);
    pause();
    pacer.add(this);
  }

  #hasTime(): boolean {
    const { tick } = this.#ports.pacer;
    if (tick !== this.#tick) [this.#tick, this.#usedMs] = [tick, 0];
    return this.#usedMs < TICK_MS;
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
