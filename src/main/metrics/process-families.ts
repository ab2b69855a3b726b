import { readdirSync, readFileSync } from 'node:fs';
import type { EventLoopLag } from './event-loop-lag.ts';
import type { Families, Sample } from './families.ts';

const MICROSECONDS_PER_S = 1_000_000;
const KIB = 1_024;

/** The process, under the standard names of Prometheus clients, and the lag of its event loop. */
export function addProcessFamilies(families: Families, lag: EventLoopLag): void {
  families.counter('process_cpu_seconds_total', 'CPU time, user and system', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / MICROSECONDS_PER_S;
  });
  families.gauge(
    'process_start_time_seconds',
    'Start time of the process, Unix time',
    () => performance.timeOrigin / 1_000,
  );
  families.gauge('process_resident_memory_bytes', 'Memory in use', () => process.memoryUsage.rss());
  families.gauge('nodejs_heap_size_used_bytes', 'The heap of JavaScript in use', () => process.memoryUsage().heapUsed);
  families.gauge('nodejs_external_memory_bytes', 'Memory outside the heap', () => process.memoryUsage().external);
  if (process.platform === 'linux') addProcFamilies(families);
  families.gauges(
    'mon_event_loop_lag_seconds',
    'Lag of the event loop in the last one to two minutes',
    ['quantile'],
    () => {
      const { median, p99, max } = lag.read();
      return [
        [median, { quantile: '0.5' }],
        [p99, { quantile: '0.99' }],
        [max, { quantile: '1' }],
      ] satisfies Sample<'quantile'>[];
    },
  );
}

/** The kernel makes these files when they are read, so that no read waits for a disk. */
function addProcFamilies(families: Families): void {
  families.gauges(
    'process_virtual_memory_bytes',
    'Address space in use',
    [],
    ifOpened(() => {
      const [, kib = 'NaN'] = /^VmSize:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
      return Number(kib) * KIB;
    }),
  );
  families.gauges(
    'process_open_fds',
    'Open descriptors',
    [],
    // The directory itself is open while it is read.
    ifOpened(() => readdirSync('/proc/self/fd').length - 1),
  );
  families.gauges(
    'process_max_fds',
    'Descriptors that may be open',
    [],
    ifOpened(() => {
      const [, max = 'NaN'] =
        /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
      return max === 'unlimited' ? Infinity : Number(max);
    }),
  );
}

/** No sample while all descriptors are in use, so that the scrape still returns the other families. */
function ifOpened(read: () => number): () => Sample<never>[] {
  return () => {
    try {
      return [[read(), {}]];
    } catch (error) {
      if (['EMFILE', 'ENFILE'].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
      throw error;
    }
  };
}
