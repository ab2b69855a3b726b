import { openSync, readSync } from 'node:fs';
import { totalmem } from 'node:os';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { MemorySource } from '../../actors/supervision/memory-guard.ts';

const KIB = 1_024;
/** The status of a process in `/proc` has about 1,500 bytes. */
const STATUS_BYTES = 8_192;

/**
 * The memory of this process. `limitBytes` 0 = the limit of the container or the service, or the memory of the machine. The heap of
 * JavaScript has a limit of its own (`--max-old-space-size`).
 */
export function memorySource(limitBytes: number): MemorySource {
  const processLimit = limitBytes === 0 ? systemLimit() : limitBytes;
  const ownBytes = process.platform === 'linux' ? linuxOwnBytes() : () => process.memoryUsage.rss();
  let collect: (() => void) | undefined;
  return {
    read: () => {
      const { used_heap_size: usedBytes, heap_size_limit: heapLimit } = getHeapStatistics();
      return {
        heap: { usedBytes, limitBytes: heapLimit },
        process: { usedBytes: ownBytes(), limitBytes: processLimit },
      };
    },
    collect: () => {
      collect ??= collector();
      collect();
    },
  };
}

/** The limit of the control group, if it is below the memory of the machine. */
function systemLimit(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

/**
 * Returns the function that reads the memory without the mapped pages of the store, which the system takes back when it needs them.
 * The file stays open, so that the memory can be read when no descriptor is free.
 */
function linuxOwnBytes(): () => number {
  const file = openSync('/proc/self/status', 'r');
  const bytes = Buffer.alloc(STATUS_BYTES);
  return () => {
    const status = bytes.toString('latin1', 0, readSync(file, bytes, 0, STATUS_BYTES, 0));
    const kib = ['RssAnon', 'RssShmem', 'VmSwap'].map((name) => {
      const [, amount = '0'] = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status) ?? [];
      return Number(amount);
    });
    return kib.reduce((sum, amount) => sum + amount, 0) * KIB;
  };
}

/** Returns the function that collects garbage. V8 gives it to contexts that are made while its flag is set. */
function collector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  setFlagsFromString('--no-expose-gc');
  return collect;
}
