const OPEN = '{{';
const CLOSE = '}}';
const KEYWORDS = new Set([
  'block',
  'break',
  'continue',
  'define',
  'else',
  'end',
  'if',
  'nil',
  'range',
  'template',
  'with',
]);
const BLANKS = /[ \t\r\n]*/y;
const BLANK = /[ \t\r\n]/;
const WORD = /[\p{L}\p{Nd}_]*/uy;
const NUMBER =
  /[+-]?(?:0[xX][\da-fA-F_]*(?:\.[\da-fA-F_]*)?(?:[pP][+-]?[\d_]*)?|0[oO][0-7_]*|0[bB][01_]*|[\d_]*(?:\.[\d_]*)?(?:[eE][+-]?[\d_]*)?)/y;
const WORD_CHARACTER = /[\p{L}\p{Nd}_]/u;
/** The characters that may follow a word, besides blanks and the end of the action. */
const TERMINATORS = '.,|:)(';

export type LexemeType =
  | 'text'
  | 'open'
  | 'close'
  | 'end'
  | 'error'
  | 'dot'
  | 'field'
  | 'variable'
  | 'identifier'
  | 'keyword'
  | 'bool'
  | 'number'
  | 'character'
  | 'string'
  | 'raw'
  | 'mark';

export interface Lexeme {
  type: LexemeType;
  /** The source, or the message of an `error`. */
  text: string;
  /** Its index in the source. */
  at: number;
  /** Whether blanks precede it, in an action. */
  isSpaced: boolean;
}

/** Splits a template into texts and the lexemes of its actions, one at a time. Each character is read a fixed number of times. */
export class Lexer {
  readonly #source: string;
  #index = 0;
  #isInAction = false;
  #trimsNext = false;
  #depth = 0;

  constructor(source: string) {
    this.#source = source;
  }

  /** Returns the next lexeme; after the last one `end`, and after an error nothing else is meaningful. */
  next(): Lexeme {
    return this.#isInAction ? this.#inAction() : this.#outside();
  }

  #outside(): Lexeme {
    const source = this.#source;
    for (;;) {
      const from = this.#trimsNext ? this.#afterBlanks(this.#index) : this.#index;
      const open = source.indexOf(OPEN, from);
      if (open < 0) {
        this.#trimsNext = false;
        this.#index = source.length;
        return from < source.length ? lexeme('text', source.slice(from), from) : lexeme('end', '', source.length);
      }
      const isTrimmed = source[open + 2] === '-' && BLANK.test(source[open + 3] ?? '');
      const to = isTrimmed ? beforeBlanks(source, from, open) : open;
      if (to > from) {
        this.#trimsNext = false;
        this.#index = open;
        return lexeme('text', source.slice(from, to), from);
      }
      this.#trimsNext = false;
      const inside = open + (isTrimmed ? 4 : 2);
      if (!source.startsWith('/*', inside)) {
        this.#index = isTrimmed ? open + 3 : inside;
        this.#isInAction = true;
        this.#depth = 0;
        return lexeme('open', OPEN, open);
      }
      const error = this.#skipComment(inside);
      if (error !== undefined) return lexeme('error', error, open);
    }
  }

  /** Moves behind the comment. Returns the error when it does not end properly. */
  #skipComment(from: number): string | undefined {
    const end = this.#source.indexOf('*/', from + 2);
    if (end < 0) return 'unclosed comment';
    const after = end + 2;
    const trims = BLANK.test(this.#source[after] ?? '') && this.#source.startsWith('-}}', after + 1);
    if (!trims && !this.#source.startsWith(CLOSE, after)) return 'comment ends before closing delimiter';
    this.#trimsNext = trims;
    this.#index = after + (trims ? 4 : 2);
    return undefined;
  }

  #inAction(): Lexeme {
    const source = this.#source;
    const at = this.#afterBlanks(this.#index);
    const isSpaced = at > this.#index;
    const trims = isSpaced && source.startsWith('-}}', at);
    if (trims || source.startsWith(CLOSE, at)) {
      if (this.#depth > 0) return lexeme('error', 'unclosed left paren', at);
      this.#isInAction = false;
      this.#trimsNext = trims;
      this.#index = at + (trims ? 3 : 2);
      return lexeme('close', CLOSE, at, isSpaced);
    }
    if (at >= source.length) return lexeme('error', 'unclosed action', at);
    const { type, text } = this.#token(at);
    if (type !== 'error') this.#index = at + text.length;
    return lexeme(type, text, at, isSpaced);
  }

  #token(at: number): { type: LexemeType; text: string } {
    const source = this.#source;
    const character = String.fromCodePoint(source.codePointAt(at) ?? 0);
    const following = source[at + 1] ?? '';
    if (character === '"') return this.#quoted(at, 'string', 'unterminated quoted string');
    if (character === '`') {
      const end = source.indexOf('`', at + 1);
      return end < 0 ? error('unterminated raw quoted string') : { type: 'raw', text: source.slice(at, end + 1) };
    }
    if (character === "'") return this.#quoted(at, 'character', 'unterminated character constant');
    if (character === ':') return following === '=' ? { type: 'mark', text: ':=' } : error('expected :=');
    if (character === '.' && !/\d/.test(following)) return this.#word(at, at + 1);
    if (character === '$') return this.#word(at, at + 1);
    if (/[-+.\d]/.test(character)) return this.#number(at);
    if (WORD_CHARACTER.test(character)) return this.#word(at, at);
    return this.#mark(character);
  }

  #mark(character: string): { type: LexemeType; text: string } {
    if (character === '(') this.#depth += 1;
    if (character === ')') {
      if (this.#depth === 0) return error('unexpected right paren');
      this.#depth -= 1;
    }
    if (character > ' ' && character <= '~') return { type: 'mark', text: character };
    return error(`unrecognized character in action: ${unicode(character)}`);
  }

  /** Reads up to the next quotation mark of the kind of the first character. There must be no line feed between them. */
  #quoted(at: number, type: LexemeType, message: string): { type: LexemeType; text: string } {
    const source = this.#source;
    const mark = source[at];
    for (let index = at + 1; index < source.length; index += 1) {
      if (source[index] === mark) return { type, text: source.slice(at, index + 1) };
      if (source[index] === '\\') index += 1;
      if (source[index] === '\n') break;
    }
    return error(message);
  }

  #number(at: number): { type: LexemeType; text: string } {
    NUMBER.lastIndex = at;
    const text = NUMBER.exec(this.#source)?.[0] ?? '';
    const following = this.#characterAt(at + text.length);
    if (!WORD_CHARACTER.test(following)) return { type: 'number', text };
    return error(`bad number syntax: ${JSON.stringify(text + following)}`);
  }

  /** Reads a word whose letters begin at `from`, after an initial `.` or `$`. */
  #word(at: number, from: number): { type: LexemeType; text: string } {
    WORD.lastIndex = from;
    WORD.exec(this.#source);
    const end = WORD.lastIndex;
    const text = this.#source.slice(at, end);
    const following = this.#characterAt(end);
    const isTerminated =
      following === '' ||
      BLANK.test(following) ||
      TERMINATORS.includes(following) ||
      this.#source.startsWith(CLOSE, end);
    if (text !== '.' && !isTerminated) return error(`bad character ${unicode(following)}`);
    return { type: wordType(text), text };
  }

  #characterAt(index: number): string {
    const code = this.#source.codePointAt(index);
    return code === undefined ? '' : String.fromCodePoint(code);
  }

  #afterBlanks(from: number): number {
    BLANKS.lastIndex = from;
    BLANKS.exec(this.#source);
    return BLANKS.lastIndex;
  }
}

const lexeme = (type: LexemeType, text: string, at: number, isSpaced = false): Lexeme => ({ type, text, at, isSpaced });

const error = (text: string): { type: LexemeType; text: string } => ({ type: 'error', text });

function wordType(text: string): LexemeType {
  if (text === '.') return 'dot';
  if (text.startsWith('.')) return 'field';
  if (text.startsWith('$')) return 'variable';
  if (text === 'true' || text === 'false') return 'bool';
  return KEYWORDS.has(text) ? 'keyword' : 'identifier';
}

/** Returns the index behind the last character of `source`, between `from` and `to`, that is not blank. */
function beforeBlanks(source: string, from: number, to: number): number {
  let end = to;
  while (end > from && BLANK.test(source[end - 1] ?? '')) end -= 1;
  return end;
}

const unicode = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')} '${character}'`;
