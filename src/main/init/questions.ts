import { createInterface, type Interface } from 'node:readline';
import { type Readable, Writable } from 'node:stream';

/** The terminal of the operator, or what stands in for one. */
export interface Console {
  input: Readable & { isTTY?: boolean };
  output: Writable;
}

/** The input ended before the answer to a question. */
export class InputEnded extends Error {
  constructor(question: string) {
    super(`the input ended before an answer to "${question}"`);
  }
}

/** Asks one question after the other. The answer to a hidden question is not shown. */
export class Questions {
  readonly #lines: Interface;
  readonly #answers: AsyncIterator<string>;
  readonly #output: Writable;
  #isHidden = false;

  constructor({ input, output }: Console) {
    this.#output = output;
    const echo = new Writable({
      write: (chunk: Buffer, _, done) => {
        if (!this.#isHidden) output.write(chunk);
        done();
      },
    });
    this.#lines = createInterface({ input, output: echo, terminal: input.isTTY === true });
    this.#answers = this.#lines[Symbol.asyncIterator]();
  }

  /** @throws InputEnded */
  async ask(question: string, { hidden = false } = {}): Promise<string> {
    this.#output.write(`${question} `);
    this.#isHidden = hidden;
    const { value, done } = await this.#answers.next();
    this.#isHidden = false;
    if (hidden) this.#output.write('\n');
    if (done === true) throw new InputEnded(question);
    return value;
  }

  close(): void {
    this.#lines.close();
  }
}
