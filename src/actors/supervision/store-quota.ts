import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { GrowthForecast } from '../../rules/growth-forecast.ts';
import type { TransactionalStore } from '../../store/commit/transactional-store.ts';

/** The time between two checks of the size of the store. */
const INTERVAL_MS = 5_000;
/** The part of the quota at which a warning is logged. */
const WARNING_PART = 0.75;

export interface StoreQuotaPorts {
  store: Pick<TransactionalStore, 'size'>;
  clock: Pick<Clock, 'after' | 'monotonicMs'>;
  log: Log;
  /** 0 = no limit. */
  quotaBytes: number;
  /** The free space of the disk that holds the store; undefined when it is not known. */
  freeDiskBytes: (() => number) | undefined;
}

/** The use of the disk by the store. */
export interface DiskUse {
  /** 0 = no quota. */
  quotaBytes: number;
  isFull: boolean;
  freeDiskBytes: number | undefined;
  /** Days until the store reaches its quota or fills the disk; undefined when it does not grow, or is not known yet. */
  daysLeft: number | undefined;
}

/** Watches the size of the store: changes that add to it are refused before it exceeds its quota. Deletions are not. */
export class StoreQuota {
  readonly #ports: StoreQuotaPorts;
  readonly #forecast = new GrowthForecast();
  #isFull = false;
  #isWarned = false;
  #cancel: (() => void) | undefined;

  constructor(ports: StoreQuotaPorts) {
    this.#ports = ports;
    this.#look();
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  start(): void {
    this.#cancel = this.#ports.clock.after(INTERVAL_MS, () => {
      this.#look();
      this.start();
    });
  }

  stop(): void {
    this.#cancel?.();
  }

  use(): DiskUse {
    const { clock, quotaBytes, freeDiskBytes } = this.#ports;
    const size = this.#ports.store.size?.();
    const free = freeDiskBytes?.();
    if (size === undefined) return { quotaBytes, isFull: this.#isFull, freeDiskBytes: free, daysLeft: undefined };
    const roomOnDisk = free === undefined ? Infinity : size.bytes + free;
    const limit = Math.min(quotaBytes === 0 ? Infinity : quotaBytes, roomOnDisk);
    const daysLeft = this.#forecast.daysUntil(limit, clock.monotonicMs(), size.usedBytes);
    return { quotaBytes, isFull: this.#isFull, freeDiskBytes: free, daysLeft };
  }

  #look(): void {
    const { store, clock, log, quotaBytes } = this.#ports;
    const usedBytes = store.size?.().usedBytes;
    if (usedBytes === undefined) return;
    this.#forecast.add(clock.monotonicMs(), usedBytes);
    if (quotaBytes === 0) return;
    const fields = { used_bytes: usedBytes, quota_bytes: quotaBytes, flag: 'store-quota' };
    const isFull = usedBytes >= quotaBytes;
    if (isFull && !this.#isFull)
      log.error(fields, 'the store has reached its quota, changes are refused, deletions are not');
    if (!isFull && this.#isFull) log.warn(fields, 'the store is below its quota again');
    this.#isFull = isFull;
    const isWarned = usedBytes >= WARNING_PART * quotaBytes;
    if (isWarned && !this.#isWarned && !isFull) log.warn(fields, 'the store has nearly reached its quota');
    this.#isWarned = isWarned;
  }
}
