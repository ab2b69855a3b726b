import { type Lexeme, Lexer } from './lexer.ts';
import { lineOf } from './position.ts';
import { TemplateError } from './template-error.ts';

/** The characters of a lexeme that an error quotes. */
const QUOTED_CHARACTERS = 10;

/** Reads the lexemes of a template with one lexeme of look-ahead, and makes the errors of the parser. */
export class LexemeReader {
  /** How many lexemes were read. */
  count = 0;
  readonly #name: string;
  readonly #source: string;
  readonly #lexer: Lexer;
  readonly #max: number;
  #peeked: Lexeme | undefined;
  #last: Lexeme = { type: 'end', text: '', at: 0, isSpaced: false };
  #actionAt: number | undefined;

  constructor(name: string, source: string, max: number) {
    this.#name = name;
    this.#source = source;
    this.#lexer = new Lexer(source);
    this.#max = max;
  }

  peek(): Lexeme {
    this.#peeked ??= this.#read();
    return this.#peeked;
  }

  next(): Lexeme {
    const next = this.peek();
    this.#peeked = undefined;
    this.#last = next;
    return next;
  }

  /** Records that the last lexeme opened an action, so that errors name its line. */
  actionBegins(): void {
    this.#actionAt = this.#last.at;
  }

  actionEnds(): void {
    this.#actionAt = undefined;
  }

  error(reason: string): TemplateError {
    return new TemplateError('parse', `template: ${this.#name}:${this.#lineOf(this.#last)}: ${reason}`);
  }

  /** Returns the error for a last lexeme that is not allowed in its place. */
  unexpected(context: string): TemplateError {
    if (this.#last.type !== 'error') return this.error(`unexpected ${shown(this.#last)} in ${context}`);
    return this.error(this.#last.text + this.#start());
  }

  /** Returns where the action began, unless it failed in the same line. */
  #start(): string {
    if (this.#actionAt === undefined) return '';
    const line = lineOf(this.#source, this.#actionAt);
    if (line === this.#lineOf(this.#last)) return '';
    const started = ` started at ${this.#name}:${line}`;
    return this.#last.text.endsWith(' action') ? started : ` in action${started}`;
  }

  #lineOf({ at }: Lexeme): number {
    return lineOf(this.#source, at);
  }

  #read(): Lexeme {
    this.count += 1;
    if (this.count <= this.#max) return this.#lexer.next();
    throw new TemplateError('limit', `template: ${this.#name}: more than ${this.#max} lexemes`);
  }
}

export const keywordOf = ({ type, text }: Lexeme): string | undefined => (type === 'keyword' ? text : undefined);

function shown({ type, text }: Lexeme): string {
  if (type === 'end') return 'EOF';
  if (type === 'keyword' || type === 'dot') return `<${text}>`;
  const characters = Array.from(text.slice(0, 2 * QUOTED_CHARACTERS + 2));
  return characters.length > QUOTED_CHARACTERS
    ? `${JSON.stringify(characters.slice(0, QUOTED_CHARACTERS).join(''))}...`
    : JSON.stringify(text);
}
