import { readFileSync } from 'node:fs';

const KB_PER_MB = 1_024;

export interface Memory {
  /** All resident memory, including mapped files. */
  residentMb: number;
  /** Pages of mapped files, mostly of the store, which the kernel can reclaim. */
  mappedMb: number;
}

export function memoryOf(pid: number): Memory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const megabytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) / KB_PER_MB;
  return { residentMb: megabytes('VmRSS'), mappedMb: megabytes('RssFile') };
}

/** @throws Error naming the limit if a process may not open this many descriptors */
export function assertDescriptors(needed: number): void {
  const limits = readFileSync('/proc/self/limits', 'utf8');
  const hard = /^Max open files\s+\S+\s+(\S+)/m.exec(limits)?.[1] ?? '';
  if (hard === 'unlimited' || Number(hard) >= needed) return;
  throw new Error(
    `one process must hold ${needed} descriptors and may hold ${hard}: raise the limit (ulimit -Hn ${needed})`,
  );
}
