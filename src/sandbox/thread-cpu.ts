import { readFileSync, readlinkSync } from 'node:fs';

const NS_PER_MS = 1_000_000;

/** The number of the calling thread in `/proc/self/task`; undefined on systems without it. */
export function ownThreadId(): string | undefined {
  return ifPresent(() => readlinkSync('/proc/thread-self').split('/').at(-1));
}

/**
 * Returns the CPU time that a thread of this process has used, ms. Returns undefined where the system does not report it.
 * The kernel makes the file when it is read, so that the read waits for no disk. Source: `Documentation/scheduler/sched-stats`.
 */
export function threadCpuMs(threadId: string | undefined): number | undefined {
  if (threadId === undefined) return undefined;
  const [usedNs] = ifPresent(() => readFileSync(`/proc/self/task/${threadId}/schedstat`, 'utf8').split(' ')) ?? [];
  // A thread that has started has used some time; none means that the system does not count.
  return Number(usedNs) > 0 ? Number(usedNs) / NS_PER_MS : undefined;
}

/** On any error, such as on a system without these files, the sandbox uses the wall clock. */
function ifPresent<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
