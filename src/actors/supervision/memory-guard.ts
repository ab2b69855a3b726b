import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';

/** The time between two checks of the memory. */
const INTERVAL_MS = 1_000;
/** The part of a limit above which changes are refused. */
const FULL_PART = 0.9;
/** The part of each limit below which changes are accepted again. */
const FREE_PART = 0.85;
/**
 * A heap that is smaller is watched as if it had this limit, so that 10 MiB of it stay free: with less, V8 spends its time on garbage
 * collections and ends the process before the heap is full.
 */
const SMALL_HEAP_BYTES = 100 * 2 ** 20;
/** The shortest time between two garbage collections that this guard requests. */
const COLLECT_INTERVAL_MS = 10_000;

/** Memory in use, and the limit at which the process ends or is ended. */
export interface MemoryAmount {
  usedBytes: number;
  limitBytes: number;
}

/** The heap of JavaScript, and the memory of the whole process that the system cannot take back. */
export type MemoryUse = Readonly<Record<'heap' | 'process', MemoryAmount>>;

export interface MemorySource {
  read(): MemoryUse;
  /** Collects garbage, so that only memory that is needed remains. */
  collect(): void;
}

export interface MemoryGuardPorts {
  /** Undefined where the memory is not monitored. */
  source: MemorySource | undefined;
  clock: Pick<Clock, 'after' | 'monotonicMs'>;
  log: Log;
}

/**
 * Watches the memory: changes are refused while the backend uses nine tenths of it, so that it continues to answer
 * reads instead of being ended. Memory counts as used only when a garbage collection has not freed it.
 */
export class MemoryGuard {
  readonly #ports: MemoryGuardPorts;
  #isFull = false;
  #collectedAtMs = -Infinity;
  #cancel: (() => void) | undefined;

  constructor(ports: MemoryGuardPorts) {
    this.#ports = ports;
    this.#look();
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  /** Undefined where the memory is not monitored. */
  use(): MemoryUse | undefined {
    return this.#ports.source?.read();
  }

  start(): void {
    if (this.#ports.source === undefined) return;
    this.#cancel = this.#ports.clock.after(INTERVAL_MS, () => {
      this.#look();
      this.start();
    });
  }

  stop(): void {
    this.#cancel?.();
  }

  #look(): void {
    const { source, clock, log } = this.#ports;
    if (source === undefined) return;
    const threshold = this.#isFull ? FREE_PART : FULL_PART;
    let use = source.read();
    if (partOf(use) >= threshold && clock.monotonicMs() - this.#collectedAtMs >= COLLECT_INTERVAL_MS) {
      source.collect();
      this.#collectedAtMs = clock.monotonicMs();
      use = source.read();
    }
    const isFull = partOf(use) >= threshold;
    if (isFull === this.#isFull) return;
    this.#isFull = isFull;
    const { heap, process } = use;
    const fields = {
      heap_bytes: heap.usedBytes,
      heap_limit_bytes: heap.limitBytes,
      process_bytes: process.usedBytes,
      process_limit_bytes: process.limitBytes,
      flag: 'memory-limit',
    };
    if (isFull) log.error(fields, 'memory is nearly used up, changes and new agents are refused, reads are not');
    else log.warn(fields, 'memory is below its limit again, changes are accepted');
  }
}

const partOf = ({ heap, process }: MemoryUse): number => {
  const freeHeapBytes = heap.limitBytes - heap.usedBytes;
  const heapPart = 1 - freeHeapBytes / Math.max(heap.limitBytes, SMALL_HEAP_BYTES);
  return Math.max(heapPart, process.usedBytes / process.limitBytes);
};
