import { spawn } from 'node:child_process';
import type { Log } from '../../ports/log.ts';

const SOCKET = 'NOTIFY_SOCKET';

/** Reports to systemd that the program is ready, where its unit requests that. Commands do not inherit the variable. */
export function notifyReady(log: Log): void {
  const socket = process.env[SOCKET];
  if (socket === undefined) return;
  delete process.env[SOCKET];
  const child = spawn('systemd-notify', ['--ready', `--pid=${process.pid}`], {
    env: { ...process.env, [SOCKET]: socket },
    stdio: 'ignore',
  });
  child.on('error', (err) => {
    log.warn({ err }, 'could not report to systemd that the backend is ready');
  });
}
