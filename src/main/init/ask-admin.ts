import { createInterface, type Interface } from 'node:readline';
import type { Readable } from 'node:stream';
import { Writable } from 'node:stream';
import { ConfigError } from '../../config/flags.ts';
import { assertFirstAdmin, type FirstAdmin } from '../../config/first-admin-flags.ts';

/** Where a person sits. */
export interface Console {
  input: Readable & { isTTY?: boolean };
  output: Writable;
}

/** Asks one question after the other; what is typed as an answer to a hidden one is not shown. */
class Questions {
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

  /** @throws Error when the input ends before the answer */
  async ask(question: string, { hidden = false } = {}): Promise<string> {
    this.#output.write(`${question} `);
    this.#isHidden = hidden;
    const { value, done } = await this.#answers.next();
    this.#isHidden = false;
    if (hidden) this.#output.write('\n');
    if (done === true) throw new Error(`the input ended before an answer to "${question}"`);
    return value;
  }

  close(): void {
    this.#lines.close();
  }
}

/** @throws ConfigError when an answer breaks a rule */
export async function askForAdmin(console: Console): Promise<FirstAdmin> {
  const questions = new Questions(console);
  try {
    const username = await questions.ask('Cluster Admin Username:');
    const password = await questions.ask('Cluster Admin Password:', { hidden: true });
    if ((await questions.ask('Retype Cluster Admin Password:', { hidden: true })) !== password) {
      const rule = "Password confirmation doesn't match the password";
      throw new ConfigError([{ flag: 'cluster-admin-password', rule }]);
    }
    const apiKey = await questions.ask('Cluster Admin API Key:', { hidden: true });
    const admin = { username, password, apiKey: apiKey || undefined };
    assertFirstAdmin(admin);
    return admin;
  } finally {
    questions.close();
  }
}
