import { readdirSync, readFileSync } from 'node:fs';

const CLOCK_TICKS_PER_S = 100;
/** Threads that Node.js starts before it runs a program: V8's scheduler and four workers, and the one that waits for signals. */
const V8_THREADS = 6;

/** CPU time of a process, in seconds. */
export interface CpuTimes {
  all: number;
  /** The thread that runs the program. */
  main: number;
  /** V8's helpers: garbage collection and compilation. */
  v8: number;
  /** The pool that LMDB writes in; also files and hashes of passwords. */
  pool: number;
}

/** Reads the CPU time of a process by thread. Node.js does not name its threads, so the order of their start distinguishes them. */
export function cpuTimesOf(pid: number): CpuTimes {
  const ids = readdirSync(`/proc/${pid}/task`)
    .map(Number)
    .sort((one, other) => one - other);
  const seconds = ids.map((id) => threadSeconds(pid, id));
  const sum = (from: number, to?: number) => seconds.slice(from, to).reduce((total, each) => total + each, 0);
  return { all: sum(0), main: sum(0, 1), v8: sum(1, 1 + V8_THREADS), pool: sum(1 + V8_THREADS) };
}

/** The sum of the user and system CPU time of one thread. */
function threadSeconds(pid: number, thread: number): number {
  const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_S;
}

/** Returns the CPU time between two readings, in µs for each of `count` events. */
export function cpuPerEvent(before: CpuTimes, after: CpuTimes, count: number): CpuTimes {
  const us = (thread: keyof CpuTimes) => ((after[thread] - before[thread]) / count) * 1e6;
  return { all: us('all'), main: us('main'), v8: us('v8'), pool: us('pool') };
}

/** Names the columns of a table. */
export const cpuColumns = ({ all, main, v8, pool }: CpuTimes): Record<string, number> => ({
  'CPU µs': all,
  'main µs': main,
  'V8 µs': v8,
  'pool µs': pool,
});
