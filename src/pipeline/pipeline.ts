import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Occupancy } from '../ports/occupancy.ts';
import type { Handler } from '../resources/handler.ts';
import type { Notification, OutboxEntry } from '../store/records.ts';
import type { HandlerResult } from './handler-run.ts';

/** Handlers that run at one time. */
const MAX_RUNNING = 100;
/** Notifications that may wait; beyond it senders must pause. */
export const MAX_WAITING = 100_000;
/** For handlers that run when the backend stops; those that take longer are ended, and run again at the next start. */
const STOP_GRACE_MS = 5_000;
/** How long to wait before an outcome that could not be stored is stored again. */
const RETRY_MS = 1_000;

export interface PipelinePorts {
  clock: Clock;
  log: Log;
  /** The entry under a key of the outbox. */
  entry(outboxKey: string): OutboxEntry | undefined;
  /** Runs a handler with an entry until `signal` ends it. Never rejects. */
  run(handler: Handler, entry: OutboxEntry, clock: Clock, signal: AbortSignal): Promise<HandlerResult>;
  /** The handler as it is configured now. */
  handler(namespace: string, name: string): Handler | undefined;
  /** Stores what became of an entry, and takes it out of the outbox. Resolves when that is durable. */
  done(outboxKey: string, key: string, notification: Notification): Promise<void>;
}

/**
 * Runs the handlers of the outbox: entries of one key strictly in order, different keys side by side. An entry stays in the
 * outbox until its outcome is stored, so that a crash repeats what was running and loses nothing.
 */
export class Pipeline {
  /** Handlers that ran to their end since the process started, by what came of it. */
  readonly runs = { handled: 0, failed: 0 };
  readonly #ports: PipelinePorts;
  /** Outbox keys that wait, by the key of their event. A key that is here has one running. */
  readonly #waiting = new Map<string, string[]>();
  readonly #ready: string[] = [];
  readonly #running = new Set<Promise<void>>();
  readonly #end = new AbortController();
  #count = 0;
  #stopped = false;

  constructor(ports: PipelinePorts) {
    this.#ports = ports;
  }

  /** Whether senders must pause. */
  get isFull(): boolean {
    return this.#count >= MAX_WAITING;
  }

  get waiting(): number {
    return this.#count;
  }

  get outbox(): Occupancy {
    return { used: this.#count, limit: MAX_WAITING };
  }

  get running(): Occupancy {
    return { used: this.#running.size, limit: MAX_RUNNING };
  }

  /** An entry is in the outbox. */
  add(outboxKey: string, key: string): void {
    this.#count += 1;
    const line = this.#waiting.get(key);
    if (line === undefined) {
      this.#waiting.set(key, [outboxKey]);
      this.#ready.push(key);
      this.#start();
    } else {
      line.push(outboxKey);
    }
  }

  /** Resolves when what runs has ended, or was ended; that and what waits stays in the outbox. */
  async stop(): Promise<void> {
    this.#stopped = true;
    const cancel = this.#ports.clock.after(STOP_GRACE_MS, () => {
      this.#end.abort(new Error('the backend stops'));
    });
    await Promise.all(this.#running);
    cancel();
  }

  #start(): void {
    while (!this.#stopped && this.#running.size < MAX_RUNNING) {
      const key = this.#ready.shift();
      if (key === undefined) return;
      const run = this.#runFirst(key).finally(() => {
        this.#running.delete(run);
        this.#start();
      });
      this.#running.add(run);
    }
  }

  async #runFirst(key: string): Promise<void> {
    const line = this.#waiting.get(key) ?? [];
    const outboxKey = line.shift();
    if (outboxKey !== undefined) await this.#handle(outboxKey, key);
    this.#count -= 1;
    if (line.length === 0) this.#waiting.delete(key);
    else this.#ready.push(key);
  }

  async #handle(outboxKey: string, key: string): Promise<void> {
    const { clock, log, run, entry: read, handler: lookUp } = this.#ports;
    const entry = read(outboxKey);
    if (entry === undefined) return;
    const startedMs = clock.monotonicMs();
    const handler = lookUp(entry.namespace, entry.handler);
    const result: HandlerResult =
      handler === undefined
        ? { outcome: 'skipped', reason: 'handler does not exist', status: undefined }
        : await run(handler, entry, clock, this.#end.signal);
    if (this.#end.signal.aborted) return;
    if (handler !== undefined) this.runs[result.outcome === 'handled' ? 'handled' : 'failed'] += 1;
    const durationMs = Math.round(clock.monotonicMs() - startedMs);
    const { notificationId: id, handler: name, decidedAtMs } = entry;
    const fields = { event_id: entry.event.id, handler: name, notification: id, ...result };
    if (result.outcome === 'handled') log.info(fields, 'event handler executed');
    else log.error(fields, 'event was not handled');
    const notification = { id, handler: name, ...result, decidedAtMs, atMs: clock.nowMs(), durationMs };
    await this.#store(outboxKey, key, notification);
  }

  /** The handler has run: only its outcome is tried again. */
  async #store(outboxKey: string, key: string, notification: Notification): Promise<void> {
    for (;;) {
      try {
        await this.#ports.done(outboxKey, key, notification);
        return;
      } catch (err) {
        if (this.#stopped) return;
        this.#ports.log.warn({ err, handler: notification.handler }, 'outcome of a handler could not be stored yet');
        await new Promise<void>((resolve) => void this.#ports.clock.after(RETRY_MS, resolve));
      }
    }
  }
}
