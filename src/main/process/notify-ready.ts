import { spawn } from 'node:child_process';
import type { Log } from '../../ports/log.ts';

/** The variable in which systemd names its socket to units with `Type=notify`. */
export const NOTIFY_SOCKET = 'NOTIFY_SOCKET';

/** Reports to systemd that the program is ready, where its unit requests that. Commands do not inherit the variable. */
export function notifyReady(log: Log): void {
  const socket = process.env[NOTIFY_SOCKET];
  if (socket === undefined) return;
  delete process.env[NOTIFY_SOCKET];
  const child = spawn('systemd-notify', ['--ready', `--pid=${process.pid}`], {
    env: { ...process.env, [NOTIFY_SOCKET]: socket },
    stdio: 'ignore',
  });
  child.on('error', (err) => {
    log.warn({ err }, 'could not report to systemd that the backend is ready');
  });
}
