import { fileURLToPath } from 'node:url';
import { eventually } from '../support/eventually.ts';
import { ObservedProcess } from './observed-process.ts';

const COLLECTED_LINE = 'garbage collected';
const TIMERS = 'timers: ';

/** Environment of a program in which a test can start a garbage collection. */
export const COLLECTABLE = {
  NODE_OPTIONS: `--require ${fileURLToPath(new URL('./collect-on-signal.cjs', import.meta.url))}`,
};

/** Measures the memory of a process after a garbage collection, so that the result does not depend on when the heap collects. */
export class CollectedProcess {
  readonly #pid: number;
  readonly #logs: readonly unknown[];
  readonly #observed: ObservedProcess;

  /** `logs` are the lines of its stderr. The process must run with the environment `COLLECTABLE`. */
  constructor({ pid, logs }: { pid: number; logs: readonly unknown[] }) {
    this.#pid = pid;
    this.#logs = logs;
    this.#observed = new ObservedProcess(pid);
  }

  /** Collects garbage, which stops the process meanwhile, and returns the memory of its own in MB. */
  async ownMemoryMb(): Promise<number> {
    const before = this.#collections;
    process.kill(this.#pid, 'SIGUSR2');
    await eventually(() => this.#collections > before);
    return this.#observed.ownMemoryMb;
  }

  /** The number of active timers at the last collection. */
  get timers(): number {
    const line = this.#logs.findLast((one) => typeof one === 'string' && one.startsWith(TIMERS));
    return Number(String(line).slice(TIMERS.length));
  }

  /** The number of open files and sockets. */
  get descriptors(): number {
    return this.#observed.descriptors;
  }

  get #collections(): number {
    return this.#logs.filter((line) => line === COLLECTED_LINE).length;
  }
}
