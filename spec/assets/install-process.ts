import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { bundledProgram } from '../support/bundled-program.ts';
import type { Installation, Installed } from './install-program.ts';

const SOURCE = fileURLToPath(new URL('./install-program.ts', import.meta.url));

/** Bundled before its first start. */
let program: string | undefined;

/** A process that installs one asset. */
export class InstallProcess {
  readonly child: ChildProcess;
  /** Undefined when the process ended without a result. */
  readonly result: Promise<Installed | undefined>;

  constructor(installation: Installation) {
    program ??= bundledProgram(SOURCE);
    this.child = fork(program, [JSON.stringify(installation)], {
      execArgv: ['--expose-gc'],
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
