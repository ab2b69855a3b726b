import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Installation, Installed } from './install-program.ts';

const PROGRAM = fileURLToPath(new URL('./install-program.ts', import.meta.url));

/** A process that installs one asset. */
export class InstallProcess {
  readonly child: ChildProcess;
  /** Undefined when the process ended without a result. */
  readonly result: Promise<Installed | undefined>;

  constructor(installation: Installation) {
    this.child = fork(PROGRAM, [JSON.stringify(installation)], {
      execArgv: ['--import', 'tsx', '--expose-gc'],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const received: Installed[] = [];
    this.child.on('message', (message) => received.push(message as Installed));
    this.result = once(this.child, 'exit').then(() => received[0]);
  }

  kill(): void {
    this.child.kill('SIGKILL');
  }
}
