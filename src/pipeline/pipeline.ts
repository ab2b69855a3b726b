import { setMaxListeners } from 'node:events';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { QueueStats } from '../ports/queue-stats.ts';
import type { Handler } from '../resources/handler.ts';
import type { Notification, OutboxEntry } from '../store/records.ts';
import { Fifo } from './fifo.ts';
import { canRun } from './handler-run.ts';
import type { HandlerResult } from './handlers/handler-result.ts';
import { Turns, type TurnTaker } from './turns.ts';

/** Notifications that may wait; beyond it senders must pause. */
const MAX_WAITING = 100_000;
/** The same, in bytes of their events. */
const MAX_WAITING_BYTES = 1024 * 1024 * 1024;
/** Notifications of a deleted namespace that are settled together. */
const DROPPED_TOGETHER = 100;
/** For handlers that run when the backend stops; those that take longer are ended, and run again at the next start. */
const STOP_GRACE_MS = 5_000;
/** How long to wait before an outcome that could not be stored is stored again. */
const RETRY_MS = 1_000;
const NAMESPACE_DELETED = 'namespace was deleted';

export interface PipelinePorts {
  clock: Clock;
  log: Log;
  /** The entry under a key of the outbox. */
  entry(outboxKey: string): OutboxEntry | undefined;
  /** Runs a handler with an entry until `signal` ends it. Never rejects. */
  run(handler: Handler, entry: OutboxEntry, clock: Clock, signal: AbortSignal): Promise<HandlerResult>;
  /** The handler as it is configured now. */
  handler(namespace: string, name: string): Handler | undefined;
  namespaceExists(name: string): boolean;
  /** Stores what became of an entry, and takes it out of the outbox. Resolves when that is durable. */
  done(outboxKey: string, key: string, notification: Notification): Promise<void>;
}

/** An entry of the outbox, as far as it is kept in memory. */
export interface Waiting extends TurnTaker {
  outboxKey: string;
  /** Of its event: entries of one key are handled in order. */
  key: string;
  /** Of its event. */
  bytes: number;
}

/**
 * Runs the handlers of the outbox: entries of one key strictly in order, different keys side by side. An entry stays in the
 * outbox until its outcome is stored, so that a crash repeats what was running and loses nothing.
 */
export class Pipeline {
  /** Handlers that ran to their end since the process started, by what came of it. */
  readonly runs = { handled: 0, failed: 0 };
  readonly #ports: PipelinePorts;
  readonly #turns = new Turns<Waiting>();
  /** What waits behind the first entry of each key, which has its turn or runs. */
  readonly #behind = new Map<string, Fifo<Waiting>>();
  /** What must be over before the pipeline has stopped. */
  readonly #underWay = new Set<Promise<void>>();
  readonly #end = new AbortController();
  #count = 0;
  #bytes = 0;
  #stopped = false;

  constructor(ports: PipelinePorts) {
    this.#ports = ports;
    // One for each handler that runs.
    setMaxListeners(0, this.#end.signal);
  }

  /** Whether senders must pause. */
  get isFull(): boolean {
    return this.#count >= MAX_WAITING || this.#bytes >= MAX_WAITING_BYTES;
  }

  get waiting(): number {
    return this.#count;
  }

  get outbox(): QueueStats {
    return { used: this.#count, limit: MAX_WAITING };
  }

  get outboxBytes(): QueueStats {
    return { used: this.#bytes, limit: MAX_WAITING_BYTES };
  }

  get running(): QueueStats {
    return this.#turns.running;
  }

  /** An entry is in the outbox. */
  add(entry: Waiting): void {
    this.#count += 1;
    this.#bytes += entry.bytes;
    const behind = this.#behind.get(entry.key);
    if (behind !== undefined) {
      behind.push(entry);
      return;
    }
    this.#behind.set(entry.key, new Fifo());
    this.#turns.add(entry);
    this.#start();
  }

  /** What waits in a namespace that was deleted is not run; what runs in it ends as it will. */
  dropNamespace(namespace: string): void {
    const dropped = this.#turns.takeOf(namespace);
    const first = new Set(dropped.map(({ key }) => key));
    for (const [key, behind] of this.#behind) {
      if (!key.startsWith(`${namespace}/`)) continue;
      dropped.push(...behind.drain());
      if (first.has(key)) this.#behind.delete(key);
    }
    if (dropped.length === 0) return;
    this.#ports.log.warn(
      { namespace, notifications: dropped.length },
      'notifications are dropped with their namespace',
    );
    this.#await(this.#settleDropped(dropped));
  }

  /** Resolves when what runs has ended, or was ended; that and what waits stays in the outbox. */
  async stop(): Promise<void> {
    this.#stopped = true;
    const cancel = this.#ports.clock.after(STOP_GRACE_MS, () => {
      this.#end.abort(new Error('the backend stops'));
    });
    await Promise.all(this.#underWay);
    cancel();
  }

  #start(): void {
    while (!this.#stopped) {
      const entry = this.#turns.begin();
      if (entry === undefined) return;
      this.#await(this.#run(entry));
    }
  }

  #await(work: Promise<void>): void {
    const awaited = work.finally(() => this.#underWay.delete(awaited));
    this.#underWay.add(awaited);
  }

  async #run(entry: Waiting): Promise<void> {
    try {
      await this.#handle(entry);
    } finally {
      this.#gone(entry);
      this.#turns.ended(entry);
      const next = this.#behind.get(entry.key)?.shift();
      if (next === undefined) this.#behind.delete(entry.key);
      else this.#turns.add(next);
      this.#start();
    }
  }

  #gone({ bytes }: Waiting): void {
    this.#count -= 1;
    this.#bytes -= bytes;
  }

  async #handle(waiting: Waiting): Promise<void> {
    const { clock, log, run, entry: read, handler: lookUp } = this.#ports;
    const entry = read(waiting.outboxKey);
    if (entry === undefined) return;
    const startedMs = clock.monotonicMs();
    const handler = lookUp(entry.namespace, entry.handler);
    const obstacle = this.#obstacle(entry.namespace, handler);
    let result: HandlerResult = { outcome: 'skipped', reason: obstacle ?? '', status: undefined };
    if (handler !== undefined && obstacle === undefined) {
      result = await run(handler, entry, clock, this.#end.signal);
      if (this.#end.signal.aborted) return;
      this.runs[result.outcome === 'handled' ? 'handled' : 'failed'] += 1;
    }
    const fields = {
      event_id: entry.event.id,
      handler: entry.handler,
      notification: entry.notificationId,
      ...result,
    };
    if (result.outcome === 'handled') log.info(fields, 'event handler executed');
    else log.error(fields, 'event was not handled');
    await this.#store(waiting, this.#notification(entry, result, Math.round(clock.monotonicMs() - startedMs)));
  }

  /** Why the handler cannot be run as it is configured now. */
  #obstacle(namespace: string, handler: Handler | undefined): string | undefined {
    if (handler !== undefined) return canRun(handler) ? undefined : `handler is of type ${handler.type} now`;
    return this.#ports.namespaceExists(namespace) ? 'handler does not exist' : NAMESPACE_DELETED;
  }

  #notification(entry: OutboxEntry, result: HandlerResult, durationMs: number): Notification {
    const { notificationId: id, handler, decidedAtMs } = entry;
    return { id, handler, ...result, decidedAtMs, atMs: this.#ports.clock.nowMs(), durationMs };
  }

  async #settleDropped(dropped: Waiting[]): Promise<void> {
    for (let at = 0; at < dropped.length && !this.#stopped; at += DROPPED_TOGETHER) {
      await Promise.all(dropped.slice(at, at + DROPPED_TOGETHER).map((waiting) => this.#skip(waiting)));
    }
  }

  async #skip(waiting: Waiting): Promise<void> {
    const entry = this.#ports.entry(waiting.outboxKey);
    const result: HandlerResult = { outcome: 'skipped', reason: NAMESPACE_DELETED, status: undefined };
    if (entry !== undefined) await this.#store(waiting, this.#notification(entry, result, 0));
    this.#gone(waiting);
  }

  /** The handler has run: only its outcome is tried again. */
  async #store({ outboxKey, key }: Waiting, notification: Notification): Promise<void> {
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
