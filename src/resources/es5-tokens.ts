/** Why a program cannot be parsed, and where. */
export class Es5SyntaxError extends Error {}

export interface Token {
  type: 'name' | 'keyword' | 'number' | 'string' | 'regex' | 'punctuator' | 'end';
  text: string;
  start: number;
  /** Whether a line ends between the token before and this one. */
  followsLine: boolean;
}

const LINE_END = /[\n\r\u2028\u2029]/;
/** No repetition within a repetition of the same characters: what does not match must be found out in time that grows with it. */
const PATTERNS = {
  space: /[\s\uFEFF]+|\/\/[^\n\r\u2028\u2029]*|\/\*[^]*?\*\//y,
  name: /(?:[$_\p{ID_Start}]|\\u[0-9a-fA-F]{4})(?:[$_\u200C\u200D\p{ID_Continue}]|\\u[0-9a-fA-F]{4})*/uy,
  number: /(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?![\w$\\])/y,
  string:
    /"(?:[^"\\\n\r]|\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|\r\n|[^xu]))*"|'(?:[^'\\\n\r]|\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|\r\n|[^xu]))*'/y,
  /** What is between the slashes is the engine's affair. */
  regex: /\/(?![*/])(?:[^\\/[\n\r]|\\[^\n\r]|\[(?:[^\]\\\n\r]|\\[^\n\r])*\])+\/[\w$]*/y,
  punctuator: />>>=|===|!==|>>>|<<=|>>=|[<>=!+*%&|^/-]=|\+\+|--|<<|>>|&&|\|\||[{}()[\].;,<>+\-*%&|^!~?:=/]/y,
};

const KEYWORDS = new Set(
  (
    'break case catch class const continue debugger default delete do else enum export extends false finally for ' +
    'function if import in instanceof new null return super switch this throw true try typeof var void while with'
  ).split(' '),
);

/** The tokens of a program in order. Source: ECMA-262, 5.1, section 7. */
export class Es5Tokens {
  /** The next one, not yet taken. */
  current: Token;
  readonly #source: string;
  /** Its own, for they remember where they are. */
  readonly #patterns: typeof PATTERNS;
  #end = 0;

  /** @throws Es5SyntaxError, as all that reads on */
  constructor(source: string) {
    this.#source = source;
    const own = Object.entries(PATTERNS).map(([name, pattern]) => [name, new RegExp(pattern)] as const);
    this.#patterns = Object.fromEntries(own) as typeof PATTERNS;
    this.current = this.#read();
  }

  /** The current one, which is taken. */
  take(): Token {
    const taken = this.current;
    this.current = this.#read();
    return taken;
  }

  /** The current one is a slash, and a regular expression begins with it. */
  takeRegex(): void {
    const { start, followsLine } = this.current;
    const text = this.#match('regex', start);
    if (text === undefined) throw this.unexpected();
    this.#end = start + text.length;
    this.current = { type: 'regex', text, start, followsLine };
    this.take();
  }

  unexpected({ type, text, start } = this.current): Es5SyntaxError {
    return this.#errorAt(start, type === 'end' ? 'Unexpected end of input' : `Unexpected token ${text}`);
  }

  error(what: string): Es5SyntaxError {
    return this.#errorAt(this.current.start, what);
  }

  #read(): Token {
    const followsLine = this.#skipSpace();
    const start = this.#end;
    const token = (type: Token['type'], text: string): Token => {
      this.#end = start + text.length;
      return { type, text, start, followsLine };
    };
    if (start === this.#source.length) return token('end', '');
    const name = this.#match('name', start);
    if (name !== undefined) return token(KEYWORDS.has(name) ? 'keyword' : 'name', name);
    const number = this.#match('number', start);
    if (number !== undefined) return token('number', number);
    const string = this.#match('string', start);
    if (string !== undefined) return token('string', string);
    const punctuator = this.#match('punctuator', start);
    if (punctuator !== undefined) return token('punctuator', punctuator);
    throw this.#errorAt(start, 'Unexpected token ILLEGAL');
  }

  /** Whether a line ended in what was skipped. */
  #skipSpace(): boolean {
    let hasLineEnd = false;
    for (let space = this.#match('space', this.#end); space !== undefined; space = this.#match('space', this.#end)) {
      this.#end += space.length;
      hasLineEnd ||= LINE_END.test(space);
    }
    return hasLineEnd;
  }

  #match(pattern: keyof typeof PATTERNS, at: number): string | undefined {
    const sticky = this.#patterns[pattern];
    sticky.lastIndex = at;
    return sticky.exec(this.#source)?.[0];
  }

  #errorAt(index: number, what: string): Es5SyntaxError {
    const lines = this.#source.slice(0, index).split('\n');
    return new Es5SyntaxError(`Line ${lines.length}:${(lines.at(-1)?.length ?? 0) + 1} ${what}`);
  }
}
