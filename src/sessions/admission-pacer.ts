import { Fifo } from '../pipeline/fifo.ts';

/** How many agents pass in one turn of the event loop. */
const PASSES_IN_A_TURN = 32;

type Pass = () => void;

/**
 * Through which agents come and go: a crowd that does so at once passes by and by, in order, so that the event loop turns and
 * everybody else is served meanwhile.
 */
export class AdmissionPacer {
  readonly #passesInATurn: number;
  readonly #waiting = new Fifo<Pass>();
  #passed = 0;
  #waitingCount = 0;
  #emptied: (() => void)[] = [];

  constructor(passesInATurn = PASSES_IN_A_TURN) {
    this.#passesInATurn = passesInATurn;
  }

  /** At once unless others wait, or too many have passed in this turn. `pass` must not throw. */
  enter(pass: Pass): void {
    if (this.#waiting.isEmpty && this.#passed < this.#passesInATurn) {
      this.#let(pass);
    } else {
      this.#waiting.push(pass);
      this.#waitingCount += 1;
    }
  }

  /** Resolves when nobody waits. */
  async empty(): Promise<void> {
    if (this.#waitingCount > 0) await new Promise<void>((resolve) => this.#emptied.push(resolve));
  }

  #let(pass: Pass): void {
    if (this.#passed === 0) {
      setImmediate(() => {
        this.#turn();
      });
    }
    this.#passed += 1;
    pass();
  }

  #turn(): void {
    this.#passed = 0;
    while (this.#passed < this.#passesInATurn) {
      const pass = this.#waiting.shift();
      if (pass === undefined) break;
      this.#waitingCount -= 1;
      this.#let(pass);
    }
    if (this.#waitingCount > 0) return;
    for (const resolve of this.#emptied.splice(0)) resolve();
  }
}
