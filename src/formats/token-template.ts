/** A template that cannot be parsed, or whose tokens cannot be evaluated. */
export class TokenError extends Error {}

/** A part of a token's pipeline. */
export type Operand =
  /** The keys of a path, `.labels.url`; none for the data itself. */
  | { type: 'path'; keys: readonly string[]; text: string; at: string }
  | { type: 'constant'; value: string | number | boolean | null }
  /** Each command receives the result of the previous one as its last argument. */
  | { type: 'pipeline'; commands: readonly (readonly Operand[])[] }
  | { type: 'function'; name: string };

export type Piece = { type: 'text'; text: string } | { type: 'token'; pipeline: Operand };

/** Each character matches in one way only, so that matching takes linear time. */
const ACTION =
  /\{\{(-(?=\s))?((?:"(?:\\.|[^"\\\n])*"|`[^`]*`|\/\*(?:(?!\*\/)[^])*\*\/|(?!\}\}|\{\{|\/\*|["`])[^])*?)((?<=\s)-)?\}\}/y;
const LEXEME =
  /\s*(?:(?<path>\.[\w.]*)|(?<string>"(?:\\.|[^"\\\n])*")|(?<raw>`[^`]*`)|(?<number>[+-]?\d+(?:\.\d+)?)|(?<identifier>[A-Za-z_]\w*)|(?<mark>[()|]))/y;
const PATH = /^\.(?:\w+(?:\.\w+)*)?$/;
const CONSTANTS = new Map([
  ['true', true],
  ['false', false],
  ['nil', null],
]);

/** Splits a template into texts and tokens, in order. @throws TokenError */
export function parseTemplate(template: string): Piece[] {
  const pieces: Piece[] = [];
  let trimsNext = false;
  const addText = (text: string, trimsEnd: boolean): void => {
    const begun = trimsNext ? text.trimStart() : text;
    const trimmed = trimsEnd ? begun.trimEnd() : begun;
    if (trimmed !== '') pieces.push({ type: 'text', text: trimmed });
  };
  let from = 0;
  for (let begin = template.indexOf('{{'); begin >= 0; begin = template.indexOf('{{', from)) {
    ACTION.lastIndex = begin;
    const match = ACTION.exec(template);
    if (match === null) throw new TokenError('unclosed action');
    const [whole, trimsEnd, inside = '', trimsBegin] = match;
    addText(template.slice(from, begin), trimsEnd !== undefined);
    trimsNext = trimsBegin !== undefined;
    const isComment = /^\s*\/\*[^]*\*\/\s*$/.test(inside);
    if (!isComment)
      pieces.push({ type: 'token', pipeline: new PipelineParser(inside, place(template, begin)).whole() });
    from = begin + whole.length;
  }
  addText(template.slice(from), false);
  return pieces;
}

/** Formats a position as its line, counted from 1, and its column, counted from 0. */
function place(template: string, index: number): string {
  const before = template.slice(0, index).split('\n');
  return `${before.length}:${before.at(-1)?.length ?? 0}`;
}

class PipelineParser {
  readonly #text: string;
  readonly #at: string;
  #index = 0;

  constructor(text: string, at: string) {
    this.#text = text;
    this.#at = at;
  }

  whole(): Operand {
    const pipeline = this.#pipeline();
    if (this.#text.slice(this.#index).trim() !== '') throw this.#unexpected();
    return pipeline;
  }

  #pipeline(): Operand {
    const commands = [this.#command()];
    while (this.#takeIf('|')) commands.push(this.#command());
    return { type: 'pipeline', commands };
  }

  #command(): Operand[] {
    const operands: Operand[] = [];
    for (let operand = this.#operand(); operand !== undefined; operand = this.#operand()) operands.push(operand);
    if (operands.length === 0) throw new TokenError('missing value for command');
    return operands;
  }

  /** Parses the next operand. Returns undefined at the end of a command. */
  #operand(): Operand | undefined {
    const { path, string, raw, number, identifier, mark } = this.#peek();
    if (mark === '(') {
      this.#takeIf('(');
      const inner = this.#pipeline();
      if (!this.#takeIf(')')) throw new TokenError('unclosed left paren');
      return inner;
    }
    if (
      path === undefined &&
      string === undefined &&
      raw === undefined &&
      number === undefined &&
      identifier === undefined
    ) {
      return undefined;
    }
    this.#index = LEXEME.lastIndex;
    if (path !== undefined) return this.#path(path);
    if (string !== undefined) return { type: 'constant', value: unquoted(string) };
    if (raw !== undefined) return { type: 'constant', value: raw.slice(1, -1) };
    if (number !== undefined) return { type: 'constant', value: Number(number) };
    const constant = CONSTANTS.get(identifier ?? '');
    return constant === undefined
      ? { type: 'function', name: identifier ?? '' }
      : { type: 'constant', value: constant };
  }

  #path(text: string): Operand {
    if (!PATH.test(text)) throw new TokenError(`unexpected <.> in ${text}`);
    const keys = text.slice(1).split('.');
    return { type: 'path', keys: text === '.' ? [] : keys, text, at: this.#at };
  }

  #takeIf(mark: string): boolean {
    if (this.#peek().mark !== mark) return false;
    this.#index = LEXEME.lastIndex;
    return true;
  }

  #peek(): Record<string, string | undefined> {
    LEXEME.lastIndex = this.#index;
    return LEXEME.exec(this.#text)?.groups ?? {};
  }

  #unexpected(): TokenError {
    return new TokenError(`unexpected ${JSON.stringify(this.#text.slice(this.#index).trim().slice(0, 20))} in operand`);
  }
}

/** @throws TokenError for an escape that JSON does not have */
function unquoted(quoted: string): string {
  try {
    return JSON.parse(quoted) as string;
  } catch (error) {
    throw new TokenError(`invalid syntax in ${quoted}`, { cause: error });
  }
}
