import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../store/lmdb/lock-contender.ts', import.meta.url));

/** Commands that run the rest of their arguments as the first process of a pid namespace: for root, and for other users. */
const NAMESPACES = [
  ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'],
  ['unshare', '--user', '--map-root-user', '--pid', '--fork', '--kill-child', '--mount-proc'],
];

/** The command that starts a pid namespace on this machine; undefined when the machine allows none. */
export const pidNamespace = (): readonly string[] | undefined =>
  NAMESPACES.find(([program = '', ...args]) => spawnSync(program, [...args, 'true']).status === 0);

/** A process that competes for the lock of a store. */
export class Contender {
  readonly #child: ChildProcess;
  readonly #answers: AsyncIterator<string>;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#answers = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  }

  /** Starts the process below `prefix`, a command that runs the rest of its arguments. */
  static async start(directory: string, prefix: readonly string[] = []): Promise<Contender> {
    const [program, ...args] = [...prefix, process.execPath, '--import=tsx', PROGRAM, directory] as const;
    const contender = new Contender(spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] }));
    await contender.#answer();
    return contender;
  }

  /** Returns `owner`, or the reason of the refusal. */
  take(): Promise<string> {
    return this.#ask('take');
  }

  async release(): Promise<void> {
    await this.#ask('release');
  }

  async releaseAndRemove(): Promise<void> {
    await this.#ask('releaseAndRemove');
  }

  /** Sends SIGKILL and waits for the end. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'close');
    this.#child.kill('SIGKILL');
    await ended;
  }

  #ask(line: string): Promise<string> {
    this.#child.stdin?.write(`${line}\n`);
    return this.#answer();
  }

  async #answer(): Promise<string> {
    const { value, done } = await this.#answers.next();
    if (done === true) throw new Error('the contender ended');
    return String(value);
  }
}
