import { ExpectedError, StoreUnavailable } from '../../src/resources/errors.ts';
import type { Durability } from './durability.ts';
import type { Differences } from './differences.ts';

/** What people are answered: what was predicted, and nothing before it is durable. */
export class Answers {
  readonly #durability: Durability;
  readonly #differences: Differences;
  /** Of this process. */
  #waiting = new Set<Promise<unknown>>();

  constructor(durability: Durability, differences: Differences) {
    this.#durability = durability;
    this.#differences = differences;
  }

  get missing(): number {
    return this.#waiting.size;
  }

  /** The process is gone: nobody answers. */
  forget(): void {
    this.#waiting = new Set();
  }

  /** `expected` is the code of an error, or undefined when all is well. */
  expect(answer: Promise<unknown>, input: number, expected: string | undefined): void {
    void this.#codeOf(answer).then((code) => {
      if (code === StoreUnavailable.name) {
        if (!this.#durability.wasLost(input)) this.#differences.add(`input ${input} was answered as lost and was not`);
        return;
      }
      this.#differences.compare(`answer to input ${input}`, expected, code);
      if (code === undefined && !this.#durability.isDurable(input))
        this.#differences.add(`input ${input} was answered before it was durable`);
    });
  }

  /** Of a store that cannot be written. */
  expectRefusal(answer: Promise<unknown>): void {
    void this.#codeOf(answer).then((code) => {
      this.#differences.compare('answer while the store cannot be written', StoreUnavailable.name, code);
    });
  }

  /** Undefined when it was answered well. */
  async #codeOf(answer: Promise<unknown>): Promise<string | undefined> {
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
