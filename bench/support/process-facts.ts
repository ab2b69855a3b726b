import { readFileSync } from 'node:fs';

const CLOCK_TICKS_PER_S = 100;
const KB_PER_MB = 1_024;

/** User and system CPU of a process so far, seconds. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_S;
}

export interface Memory {
  /** All that is resident, mapped files included. */
  residentMb: number;
  /** Pages of mapped files, most of them the store's: the system takes them back when it needs them. */
  mappedMb: number;
}

export function memoryOf(pid: number): Memory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const megabytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) / KB_PER_MB;
  return { residentMb: megabytes('VmRSS'), mappedMb: megabytes('RssFile') };
}

/** @throws Error naming the limit when no process may have so many descriptors open */
export function assertDescriptors(needed: number): void {
  const limits = readFileSync('/proc/self/limits', 'utf8');
  const hard = /^Max open files\s+\S+\s+(\S+)/m.exec(limits)?.[1] ?? '';
  if (hard === 'unlimited' || Number(hard) >= needed) return;
  throw new Error(
    `one process must hold ${needed} descriptors and may hold ${hard}: raise the limit (ulimit -Hn ${needed})`,
  );
}
