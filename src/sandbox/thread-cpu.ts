import { readFileSync } from 'node:fs';

/** The kernel counts the time of threads in hundredths of a second. */
const TICK_MS = 10;
/** Positions after the name of the thread, which is in brackets. Source: proc(5), `/proc/pid/stat`. */
const USER_TIME = 11;
const SYSTEM_TIME = 12;

/**
 * Returns the CPU time that a thread of this process has used, ms, in steps of ten. Returns undefined where the system
 * does not tell it. The kernel makes the file when it is read, so that the read waits for no disk.
 */
export function threadCpuMs(threadId: string | undefined): number | undefined {
  if (threadId === undefined) return undefined;
  try {
    const stat = readFileSync(`/proc/self/task/${threadId}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const usedMs = (Number(fields[USER_TIME]) + Number(fields[SYSTEM_TIME])) * TICK_MS;
    // A thread that has started has used some time; none means that the system does not count.
    return usedMs > 0 ? usedMs : undefined;
  } catch {
    return undefined;
  }
}
