import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { Overloaded } from '../../resources/errors.ts';
import { TokenBucket } from '../../rules/token-bucket.ts';
import { namesOf } from './check-key.ts';
import { type EventQueue, MAX_EVENTS_IN_MEMORY, MAX_QUEUED_BYTES } from './event-queue.ts';
import type { QueueStore } from './spill.ts';

export interface RelaySettings {
  /** Events per second; 0 = no limit. */
  readonly ratePerS: number;
  /** Events at once; below 1 counts as 1. */
  readonly burst: number;
}

interface PostedQueuePorts {
  clock: Clock;
  log: Log;
  queue: EventQueue;
  store: QueueStore | undefined;
  /** Whether a backend is connected. */
  isConnected(): boolean;
  /** Sends what is queued. */
  flush(): void;
}

export interface PostedEvent {
  /** JSON. */
  readonly payload: string;
  readonly check: string;
}

interface Posted {
  readonly n: number;
  readonly check: string;
  readonly bytes: number;
  /** Undefined when the event is on disk. */
  readonly payload: string | undefined;
}

/**
 * Events that clients posted to the agent. Each is durable before it is accepted; without a store it stays in memory. They are
 * queued for sending in order and at a limited rate while a backend is connected, so that they do not delay the results of checks.
 * Source: spec/03 6.3 and 6.4.
 */
export class PostedQueue {
  readonly #ports: PostedQueuePorts;
  readonly #maxEvents: number;
  readonly #bucket: TokenBucket | undefined;
  #events: Posted[] = [];
  #bytes = 0;
  /** Events that are being stored. */
  #accepting = 0;
  #lastNumber = 0;
  #refused = 0;
  #isRelaying = false;
  #cancelWait: (() => void) | undefined;
  #isStopped = false;

  constructor(maxEvents: number, { ratePerS, burst }: RelaySettings, ports: PostedQueuePorts) {
    this.#ports = ports;
    this.#maxEvents = ports.store === undefined ? Math.min(maxEvents, MAX_EVENTS_IN_MEMORY) : maxEvents;
    const nowMs = (): number => ports.clock.monotonicMs();
    this.#bucket =
      ratePerS > 0 ? new TokenBucket({ tokensPerS: ratePerS, capacity: Math.max(1, burst), nowMs }) : undefined;
    if (ports.store !== undefined) this.#load(ports.store);
  }

  get size(): number {
    return this.#events.length;
  }

  /** Events that were refused because the queue was full. */
  get refused(): number {
    return this.#refused;
  }

  /**
   * Accepts events: all of them, or none. Resolves when they are durable.
   * @throws Overloaded when the queue is full, or the error of writing
   */
  async accept(events: readonly PostedEvent[]): Promise<void> {
    const { posts } = this.#ports.queue;
    const numbered = events.map((event) => ({
      ...event,
      n: ++this.#lastNumber,
      bytes: Buffer.byteLength(event.payload),
    }));
    const bytes = numbered.reduce((sum, event) => sum + event.bytes, 0);
    if (!this.#hasRoom(numbered.length, bytes)) this.#refuse();
    this.#accepting += numbered.length;
    this.#bytes += bytes;
    try {
      await posts?.post(numbered);
    } catch (error) {
      this.#bytes -= bytes;
      throw error;
    } finally {
      this.#accepting -= numbered.length;
    }
    for (const event of numbered) this.#events.push(posts === undefined ? event : { ...event, payload: undefined });
    this.relay();
  }

  #hasRoom(events: number, bytes: number): boolean {
    const { queue } = this.#ports;
    const waiting = this.size + this.#accepting + queue.size;
    return waiting + events <= this.#maxEvents && this.#bytes + queue.bytes + bytes <= MAX_QUEUED_BYTES;
  }

  /** Continues to queue events. Must be called when a backend is connected. */
  relay(): void {
    if (this.#isRelaying || this.#isStopped || this.#cancelWait !== undefined) return;
    this.#isRelaying = true;
    void this.#relayAll().finally(() => {
      this.#isRelaying = false;
    });
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelWait?.();
  }

  async #relayAll(): Promise<void> {
    const { queue, isConnected, flush, log } = this.#ports;
    while (!this.#isStopped && isConnected()) {
      const [first] = this.#events;
      if (first === undefined) return;
      if (this.#bucket?.take() === false) {
        this.#waitForToken(this.#bucket.waitMs);
        return;
      }
      this.#events.shift();
      this.#bytes -= first.bytes;
      const payload = first.payload ?? this.#read(first.n);
      if (payload === undefined) continue;
      await queue.move(first.n, payload, first.check);
      log.info(namesOf(first.check), 'queued message sent');
      flush();
    }
  }

  #waitForToken(ms: number): void {
    this.#cancelWait = this.#ports.clock.after(ms, () => {
      this.#cancelWait = undefined;
      this.relay();
    });
  }

  #read(n: number): string | undefined {
    const { store, queue, log } = this.#ports;
    try {
      return store?.readPosted(n);
    } catch (error) {
      log.error({ n, err: error }, 'dropping a damaged posted event');
      queue.posts?.removePosted(n);
      return undefined;
    }
  }

  #load(store: QueueStore): void {
    for (const { n, entry } of store.postedIndex()) {
      this.#lastNumber = n;
      // A damaged one is removed when it is next in order.
      const { check, bytes } = entry instanceof Error ? { check: '', bytes: 0 } : entry;
      this.#events.push({ n, check, bytes, payload: undefined });
      this.#bytes += bytes;
    }
    if (this.size > 0) this.#ports.log.info({ events: this.size }, 'loaded posted events of an earlier run');
  }

  #refuse(): never {
    this.#refused += 1;
    // One line for each power of ten, because clients repeat what was refused.
    if (Number.isInteger(Math.log10(this.#refused))) {
      this.#ports.log.warn(
        { refused: this.#refused, events: this.size },
        'event queue is full, refusing posted events',
      );
    }
    throw new Overloaded('the event queue is full');
  }
}
