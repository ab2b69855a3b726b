/** The characters of a message that are kept. */
const MAX_MESSAGE = 3_000;

/** A template that cannot be parsed or executed. The message names the template and the position, as in Go. */
export class TemplateError extends Error {
  /** `limit`: the output or the work exceeds its bound. */
  readonly kind: 'parse' | 'exec' | 'limit' | 'too long';

  constructor(kind: TemplateError['kind'], message: string) {
    super(message.slice(0, MAX_MESSAGE));
    this.kind = kind;
  }
}

/** A failure of a function. The execution adds the name and the position. */
export class FunctionError extends Error {}
