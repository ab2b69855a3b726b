import { execFile } from 'node:child_process';

/** Kills a process group, on Windows a process with all that it started. Calls `failed` when the system refuses that. */
export function killGroup(platform: NodeJS.Platform, pid: number, failed: () => void): void {
  if (platform === 'win32') {
    execFile('taskkill', ['/T', '/F', '/PID', String(pid)], { windowsHide: true }, (error) => {
      if (error !== null) failed();
    });
    return;
  }
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') failed();
  }
}
