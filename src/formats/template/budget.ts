import { TemplateError } from './template-error.ts';

export interface TemplateLimits {
  /** The maximum size of the output, and of each text on the way to it, UTF-8 bytes. */
  maxBytes: number;
  /** The maximum work: evaluated nodes, and pieces of texts. */
  maxSteps: number;
}

/** The characters of a text that take about as long as the evaluation of one node. */
const CHARACTERS_PER_STEP = 64;

/** The bytes and steps that are left for one or several executions. Both are counted during the execution. */
export class Budget {
  readonly #limits: TemplateLimits;
  #bytes = 0;
  #steps = 0;

  constructor(limits: TemplateLimits) {
    this.#limits = limits;
  }

  /** The size of the output so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Counts evaluated nodes. @throws TemplateError of kind `limit` */
  step(count = 1): void {
    this.#steps += count;
    if (this.#steps > this.#limits.maxSteps) {
      throw new TemplateError('limit', `needs more than ${this.#limits.maxSteps} steps`);
    }
  }

  /** Checks the length of a text that grows. @throws TemplateError of kind `too long` */
  fits(length: number): void {
    if (length > this.#limits.maxBytes) throw this.#tooLong();
  }

  /** Counts the work on a text, and checks its length. @throws TemplateError of kind `limit` or `too long` */
  text(length: number): void {
    this.fits(length);
    this.step(Math.ceil(length / CHARACTERS_PER_STEP));
  }

  /** Counts text that becomes part of the output. @throws TemplateError of kind `too long` */
  output(text: string): void {
    this.text(text.length);
    this.outputBytes(Buffer.byteLength(text));
  }

  /** Counts bytes that are part of the output already. @throws TemplateError of kind `too long` */
  outputBytes(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.#limits.maxBytes) throw this.#tooLong();
  }

  #tooLong(): TemplateError {
    return new TemplateError('too long', `too long: the filled strings exceed ${this.#limits.maxBytes} bytes`);
  }
}
