import { fileURLToPath } from 'node:url';
import { eventually } from '../support/eventually.ts';
import { ObservedProcess } from './observed-process.ts';

const COLLECTED = 'garbage collected';

/** Environment of a program whose garbage a test may have collected. */
export const COLLECTABLE = {
  NODE_OPTIONS: `--require ${fileURLToPath(new URL('./collect-on-signal.cjs', import.meta.url))}`,
};

/** A process whose memory is looked at without its garbage: when that goes is the heap's affair. */
export class CollectedProcess {
  readonly #pid: number;
  readonly #logs: readonly unknown[];
  readonly #observed: ObservedProcess;

  /** `logs` are the lines of its stderr; its environment has `COLLECTABLE`. */
  constructor({ pid, logs }: { pid: number; logs: readonly unknown[] }) {
    this.#pid = pid;
    this.#logs = logs;
    this.#observed = new ObservedProcess(pid);
  }

  /** After a collection, which stops the process for as long as that takes. */
  async ownMemoryMb(): Promise<number> {
    const before = this.#collections;
    process.kill(this.#pid, 'SIGUSR2');
    await eventually(() => this.#collections > before);
    return this.#observed.ownMemoryMb;
  }

  get #collections(): number {
    return this.#logs.filter((line) => line === COLLECTED).length;
  }
}
