import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { TransactionalStore } from '../../store/commit/transactional-store.ts';
import { MemoryGuard, type MemorySource, type MemoryUse } from './memory-guard.ts';
import { type DiskUse, StoreQuota } from './store-quota.ts';

interface ResourceLimitsPorts {
  store: TransactionalStore;
  clock: Clock;
  log: Log;
  quotaBytes: number;
  freeDiskBytes: (() => number) | undefined;
  memory: MemorySource | undefined;
}

/** Watches the disk and the memory that the backend uses. Changes are refused before either of them is full. */
export class ResourceLimits {
  readonly quota: StoreQuota;
  readonly memory: MemoryGuard;

  constructor({ store, clock, log, quotaBytes, freeDiskBytes, memory }: ResourceLimitsPorts) {
    this.quota = new StoreQuota({ store, clock, log, quotaBytes, freeDiskBytes });
    this.memory = new MemoryGuard({ source: memory, clock, log });
  }

  /** The use of the disk by the store. */
  diskUse(): DiskUse {
    return this.quota.use();
  }

  /** Undefined where the memory is not monitored. */
  memoryUse(): MemoryUse | undefined {
    return this.memory.use();
  }

  /** Whether changes and new agents are refused, because the memory is nearly used up. */
  get isMemoryFull(): boolean {
    return this.memory.isFull;
  }

  start(): void {
    this.quota.start();
    this.memory.start();
  }

  stop(): void {
    this.quota.stop();
    this.memory.stop();
  }
}
