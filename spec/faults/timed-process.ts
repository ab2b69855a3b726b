import { fileURLToPath } from 'node:url';
import { eventually } from '../support/eventually.ts';

const LINE = 'longest tick: ';

/** Environment of a program whose ticks of the event loop a test measures. */
export const TIMED = {
  NODE_OPTIONS: `--require ${fileURLToPath(new URL('./time-ticks.cjs', import.meta.url))}`,
};

/**
 * Measures how long a process holds its event loop: the CPU time of its main thread between two runs of a timer. Work of
 * other processes of the machine does not count.
 */
export class TimedProcess {
  readonly #program: { readonly pid: number; readonly logs: readonly unknown[] };

  /** `logs` are the lines of its stderr. The process must run with the environment `TIMED`. */
  constructor(program: { readonly pid: number; readonly logs: readonly unknown[] }) {
    this.#program = program;
  }

  /** Returns the longest tick since the last call, ms of CPU time. */
  async longestTickMs(): Promise<number> {
    const before = this.#lines.length;
    process.kill(this.#program.pid, 'SIGUSR2');
    await eventually(() => this.#lines.length > before, Boolean, { what: 'the longest tick', withinMs: 60_000 });
    return Number(this.#lines.at(-1)?.slice(LINE.length));
  }

  get #lines(): string[] {
    return this.#program.logs.filter((line): line is string => typeof line === 'string' && line.startsWith(LINE));
  }
}
