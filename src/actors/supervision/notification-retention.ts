import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { QueueStats } from '../../ports/queue-stats.ts';
import { eventAddress, keyAfter, numberOfDeadLetter } from '../../store/encoding/keyspace.ts';
import type { OpenStreak } from '../../store/records/records.ts';
import { CorruptRecord } from '../../store/encoding/sealed.ts';
import { readResource } from '../../store/resource-store.ts';
import type { TransactionalStore } from '../../store/commit/transactional-store.ts';
import { internal } from '../core/decider.ts';
import type { Decider } from '../core/decider.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import { dropDeadLetter, endOldStreaks, forgetNotification } from '../events/forget-notifications.ts';
import { PacedSteps } from './paced-steps.ts';
import { NotificationSweep, type SweepStep } from './notification-sweep.ts';

/** The size of the stored notifications. Above it the retention is shortened, so that the oldest go first. */
const MAX_KEPT_NOTIFICATION_BYTES = 1024 * 1024 * 1024;
/** Dead letters, and their size. Above it the oldest are dropped. */
const MAX_KEPT_DEAD_LETTERS = 10_000;
const MAX_KEPT_DEAD_LETTER_BYTES = 256 * 1024 * 1024;
/** The time between two steps that find nothing to remove. */
const INTERVAL_MS = 5_000;
/** The time that other inputs have between two steps. */
const PAUSE_MS = 1;
/** Records of the other tables that one step examines. */
const RECORDS_PER_STEP = 100;
/** The shortest retention while there are too many notifications. */
const MIN_RETENTION_MS = 60_000;
/** The time of a dead letter follows from its number. */
const NUMBERS_PER_MS = 1_000;
/** Above every key. */
const END = '~';

const NOTIFICATION_TABLES = ['notificationLog', 'notificationsByEvent', 'notificationsById', 'openStreaks'] as const;

export interface NotificationRetentionPorts {
  store: TransactionalStore;
  decider: Pick<Decider, 'decide'>;
  clock: Pick<Clock, 'after' | 'nowMs'>;
  log: Log;
  /** How long notifications and dead letters are kept, ms. */
  retentionMs: number;
  bounds?: Partial<KeptBounds>;
}

export interface KeptBounds {
  notificationBytes: number;
  deadLetters: number;
  deadLetterBytes: number;
}

const BOUNDS: KeptBounds = {
  notificationBytes: MAX_KEPT_NOTIFICATION_BYTES,
  deadLetters: MAX_KEPT_DEAD_LETTERS,
  deadLetterBytes: MAX_KEPT_DEAD_LETTER_BYTES,
};

/** Removes old notifications and dead letters, and those of deleted namespaces, in bounded steps. */
export class NotificationRetention {
  readonly #ports: NotificationRetentionPorts;
  readonly #bounds: KeptBounds;
  readonly #sweep: NotificationSweep;
  readonly #steps: PacedSteps;
  #effectiveMs: number;
  #streaksFrom = '';
  #droppedNotifications = 0;
  #droppedLetters = 0;
  /** What could not be removed in this sweep, and in the last one, because of a damaged record. */
  #damaged = 0;
  #reportedDamaged = 0;

  constructor(ports: NotificationRetentionPorts) {
    this.#ports = ports;
    this.#bounds = { ...BOUNDS, ...ports.bounds };
    this.#effectiveMs = ports.retentionMs;
    this.#sweep = new NotificationSweep(ports.store);
    this.#steps = new PacedSteps({
      ...ports,
      step: () => this.#step(),
      failure: 'could not remove old notifications, it is tried again',
      retryMs: INTERVAL_MS,
    });
  }

  /** Bytes of the stored notifications. `dropped` counts notifications that were removed before their time. */
  get notificationBytes(): QueueStats {
    const { notificationBytes: limit } = this.#bounds;
    return { used: this.#notificationBytes(), limit, dropped: this.#droppedNotifications };
  }

  get deadLetters(): QueueStats {
    const used = this.#ports.store.tableSize('deadLetters').entries;
    return { used, limit: this.#bounds.deadLetters, dropped: this.#droppedLetters };
  }

  get deadLetterBytes(): QueueStats {
    return { used: this.#ports.store.tableSize('deadLetters').bytes, limit: this.#bounds.deadLetterBytes };
  }

  start(): void {
    this.#steps.start(INTERVAL_MS);
  }

  stop(): void {
    this.#steps.stop();
  }

  async #step(): Promise<number> {
    const { decider, clock } = this.#ports;
    const isTight = this.#effectiveMs < this.#ports.retentionMs;
    const oldBeforeMs = clock.nowMs() - this.#effectiveMs;
    const step = this.#sweep.step({ oldBeforeMs, isTight });
    const streaks = this.#oldStreaks(oldBeforeMs);
    const letters = this.#outdatedLetters(clock.nowMs() - this.#ports.retentionMs);
    const isIdle = [step.forgettable, letters, streaks].every(({ length }) => length === 0) && step.floors.size === 0;
    let removed = 0;
    if (!isIdle) {
      try {
        await decider.decide({ ...internal('heartbeat.due'), unbounded: true }, (ctx) => {
          for (const key of letters) dropDeadLetter(ctx, key);
          for (const key of streaks) this.#intact(() => endOldStreaks(ctx, key, oldBeforeMs));
          removed = this.#remove(ctx, step);
        }).durable;
      } catch (error) {
        this.#sweep.restart();
        this.#damaged = 0;
        throw error;
      }
    }
    if (isTight) this.#droppedNotifications += removed;
    if (step.isEnd) this.#endSweep();
    const isBehind = removed > 0 || letters.length > 0 || (this.#isOver() && !step.isEnd);
    return isBehind ? PAUSE_MS : INTERVAL_MS;
  }

  /** Returns the number of notifications that were removed. Floors stay while a damaged one may be below them. */
  #remove(ctx: DecisionContext, { forgettable, floors }: SweepStep): number {
    let removed = 0;
    for (const one of forgettable) if (this.#intact(() => forgetNotification(ctx, one)) === true) removed += 1;
    if (this.#damaged > 0) return removed;
    for (const [key, floor] of floors) if (ctx.get('meta', key) === floor) ctx.delete('meta', key);
    return removed;
  }

  /** Returns the result of `use`. Returns undefined, and counts it, when `use` reads a damaged record. */
  #intact<T>(use: () => T): T | undefined {
    try {
      return use();
    } catch (error) {
      if (!(error instanceof CorruptRecord)) throw error;
      this.#damaged += 1;
      return undefined;
    }
  }

  #endSweep(): void {
    if (this.#damaged !== this.#reportedDamaged && this.#damaged > 0) {
      const message = 'old notifications are not removed, because records are damaged; the next start sets them aside';
      this.#ports.log.error({ records: this.#damaged }, message);
    }
    this.#reportedDamaged = this.#damaged;
    this.#damaged = 0;
    this.#adapt();
  }

  /** The keys of the next streaks that are stored apart, if they are old or their namespace does not exist. */
  #oldStreaks(oldBeforeMs: number): string[] {
    const { store } = this.#ports;
    const keys = [...store.keys('openStreaks', { from: this.#streaksFrom, to: END, limit: RECORDS_PER_STEP })];
    const last = keys.at(-1);
    this.#streaksFrom = last === undefined || keys.length < RECORDS_PER_STEP ? '' : keyAfter(last);
    const isGone = (key: string): boolean =>
      readResource(store, 'namespaces', undefined, eventAddress(key).namespace) === undefined;
    const isOld = ({ atMs }: OpenStreak): boolean => atMs < oldBeforeMs;
    return keys.filter((key) => this.#intact(() => store.get('openStreaks', key)?.some(isOld) === true || isGone(key)));
  }

  /** The oldest dead letters, if they are too old or too many. */
  #outdatedLetters(oldBeforeMs: number): string[] {
    const { store, log } = this.#ports;
    const keys = [...store.keys('deadLetters', { from: '', to: END, limit: RECORDS_PER_STEP })];
    const isOld = (key: string): boolean => numberOfDeadLetter(key) < oldBeforeMs * NUMBERS_PER_MS;
    const old = keys.filter(isOld);
    if (old.length > 0) return old;
    const { entries, bytes } = store.tableSize('deadLetters');
    const { deadLetters, deadLetterBytes } = this.#bounds;
    const surplus = Math.max(entries - deadLetters, bytes > deadLetterBytes ? Math.ceil(entries / 10) : 0, 0);
    if (surplus === 0) return [];
    const dropped = keys.slice(0, surplus);
    this.#droppedLetters += dropped.length;
    log.warn({ dead_letters: dropped.length, limit: deadLetters }, 'too many dead letters, dropping the oldest');
    return dropped;
  }

  #isOver(): boolean {
    return this.#notificationBytes() > this.#bounds.notificationBytes;
  }

  #notificationBytes(): number {
    const { store } = this.#ports;
    return NOTIFICATION_TABLES.reduce((sum, table) => sum + store.tableSize(table).bytes, 0);
  }

  /** Shortens the retention after a sweep that has not removed enough, and lengthens it again when there is room. */
  #adapt(): void {
    const { retentionMs, log } = this.#ports;
    const used = this.#notificationBytes();
    const { notificationBytes: limit } = this.#bounds;
    const before = this.#effectiveMs;
    if (used > limit) this.#effectiveMs = Math.max(MIN_RETENTION_MS, before / 2);
    else if (used < limit / 2) this.#effectiveMs = Math.min(retentionMs, before * 2);
    if (this.#effectiveMs < before) {
      const fields = { bytes: used, limit, retention_s: Math.round(this.#effectiveMs / 1_000) };
      log.warn(fields, 'too many notifications are stored, older ones are removed before their time');
    }
  }
}
