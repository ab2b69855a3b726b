import { readFileSync } from 'node:fs';

/** Whether a process is there and not merely waiting for its parent to read its end. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['ESRCH', 'ENOENT'].includes(code)) return false;
    throw error;
  }
}
