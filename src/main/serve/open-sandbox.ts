import type { SandboxConfig } from '../../config/flags/sandbox-flags.ts';
import type { Log } from '../../ports/log.ts';
import { Sandbox } from '../../sandbox/sandbox.ts';
import { systemClock } from '../process/system-clock.ts';
import type { Closers } from './closers.ts';

/** Opens the sandbox of the process. Its threads start with the first tasks. */
export function openSandbox({ jsWorkers }: SandboxConfig, log: Log, closers: Closers): Sandbox {
  const sandbox = new Sandbox({ clock: systemClock, log, ...(jsWorkers === undefined ? {} : { workers: jsWorkers }) });
  closers.add(() => sandbox.stop());
  return sandbox;
}
