import { ExpectedError, StoreUnavailable } from '../../src/resources/errors.ts';
import type { Durability } from './durability.ts';
import type { Differences } from './differences.ts';

/** Compares the answers to commands with the predicted ones, and checks that no command is answered before it is durable. */
export class Answers {
  readonly #durability: Durability;
  readonly #differences: Differences;
  /** Commands of the current process that have no answer yet. */
  #waiting = new Set<Promise<unknown>>();

  constructor(durability: Durability, differences: Differences) {
    this.#durability = durability;
    this.#differences = differences;
  }

  get missing(): number {
    return this.#waiting.size;
  }

  /** Drops the open commands: the process that would answer them is gone. */
  processCrashed(): void {
    this.#waiting = new Set();
  }

  /** `expected` is the class name of the predicted error, or undefined for success. */
  expect(answer: Promise<unknown>, input: number, expected: string | undefined): void {
    void this.#errorNameOf(answer).then((errorName) => {
      if (errorName === StoreUnavailable.name) {
        if (!this.#durability.wasLost(input))
          this.#differences.add(`input ${input}: the answer says that it was lost, but it was stored`);
        return;
      }
      this.#differences.compare(`answer to input ${input}`, expected, errorName);
      if (errorName === undefined && !this.#durability.isDurable(input))
        this.#differences.add(`input ${input}: the answer came before the input was durable`);
    });
  }

  /** Expects the error of a store that cannot be written. */
  expectRefusal(answer: Promise<unknown>): void {
    void this.#errorNameOf(answer).then((errorName) => {
      this.#differences.compare('answer while the store cannot be written', StoreUnavailable.name, errorName);
    });
  }

  /** Returns the class name of the error, or undefined for success. */
  async #errorNameOf(answer: Promise<unknown>): Promise<string | undefined> {
    const waiting = this.#waiting.add(answer);
    try {
      await answer;
      return undefined;
    } catch (error) {
      if (error instanceof ExpectedError) return error.constructor.name;
      throw error;
    } finally {
      waiting.delete(answer);
    }
  }
}
