import { Es5Tokens } from './es5-tokens.ts';

/** Expressions, statements and functions within each other; what is deeper is refused, and needs no larger stack. */
const MAX_NESTING = 250;

const PRECEDENCES: ReadonlyMap<string, number> = new Map(
  ['||', '&&', '|', '^', '&', '== != === !==', '< > <= >= instanceof in', '<< >> >>>', '+ -', '* / %'].flatMap(
    (operators, level) => operators.split(' ').map((operator): [string, number] => [operator, level + 1]),
  ),
);
const ASSIGNMENTS = new Set('= += -= *= /= %= <<= >>= >>>= &= ^= |='.split(' '));
const PREFIXES = new Set('delete void typeof ++ -- + - ~ !'.split(' '));

/**
 * Whether a text is a program, of statements and not only an expression. Labels are not looked up, and regular expressions are
 * the engine's affair. Source: ECMA-262, 5.1, sections 11 to 14. @throws Es5SyntaxError
 */
export function assertEs5(source: string): void {
  new Es5Parser(source).program();
}

/** Recognises and builds nothing. What can be assigned to makes its method return true. */
class Es5Parser {
  readonly #tokens: Es5Tokens;
  #depth = 0;
  #functions = 0;

  constructor(source: string) {
    this.#tokens = new Es5Tokens(source);
  }

  program(): void {
    while (this.#tokens.current.type !== 'end') this.#statement();
  }

  #is(text: string): boolean {
    const { type, text: current } = this.#tokens.current;
    return (type === 'punctuator' || type === 'keyword') && current === text;
  }

  #takeIf(text: string): boolean {
    if (!this.#is(text)) return false;
    this.#tokens.take();
    return true;
  }

  #expect(text: string): void {
    if (!this.#takeIf(text)) throw this.#tokens.unexpected();
  }

  #name(): void {
    if (this.#tokens.current.type !== 'name') throw this.#tokens.unexpected();
    this.#tokens.take();
  }

  #nested<T>(parse: () => T): T {
    this.#depth += 1;
    if (this.#depth > MAX_NESTING) throw this.#tokens.error(`nested more than ${MAX_NESTING} deep`);
    const result = parse();
    this.#depth -= 1;
    return result;
  }

  #statement(): void {
    this.#nested(() => {
      const { type, text } = this.#tokens.current;
      const parse = type === 'keyword' ? this.#statements.get(text) : undefined;
      if (parse !== undefined) {
        this.#tokens.take();
        parse();
      } else if (this.#is('{')) this.#block();
      else if (!this.#takeIf(';')) this.#expressionOrLabel();
    });
  }

  /** By their first word, which is taken. */
  readonly #statements: ReadonlyMap<string, () => void> = new Map([
    ['var', () => this.#declarations(false, true)],
    ['if', () => this.#if()],
    ['for', () => this.#for()],
    ['while', () => this.#headed()],
    ['with', () => this.#headed()],
    ['do', () => this.#do()],
    ['break', () => this.#jump()],
    ['continue', () => this.#jump()],
    ['return', () => this.#return()],
    ['throw', () => this.#throw()],
    ['switch', () => this.#switch()],
    ['try', () => this.#try()],
    ['debugger', () => this.#semicolon()],
    ['function', () => this.#function(true)],
  ]);

  /** One may be left out before a closing brace, at the end, and where a line ends. */
  #semicolon(): void {
    if (this.#takeIf(';') || this.#endsStatement()) return;
    throw this.#tokens.unexpected();
  }

  #endsStatement(): boolean {
    return this.#is(';') || this.#is('}') || this.#tokens.current.type === 'end' || this.#tokens.current.followsLine;
  }

  #block(): void {
    this.#expect('{');
    while (!this.#is('}')) {
      if (this.#tokens.current.type === 'end') throw this.#tokens.unexpected();
      this.#statement();
    }
    this.#expect('}');
  }

  #expressionOrLabel(): void {
    const mayBeLabel = this.#tokens.current.type === 'name';
    const isOneName = this.#expression(false) && this.#wasOneName;
    if (mayBeLabel && isOneName && this.#takeIf(':')) this.#statement();
    else this.#semicolon();
  }

  #condition(): void {
    this.#expect('(');
    this.#expression(false);
    this.#expect(')');
  }

  #headed(): void {
    this.#condition();
    this.#statement();
  }

  #if(): void {
    this.#headed();
    if (this.#takeIf('else')) this.#statement();
  }

  #do(): void {
    this.#statement();
    this.#expect('while');
    this.#condition();
    this.#takeIf(';');
  }

  #for(): void {
    this.#expect('(');
    let mayBeIn = false;
    if (this.#takeIf('var')) mayBeIn = this.#declarations(true, false);
    else if (!this.#is(';')) mayBeIn = this.#expression(true);
    if (mayBeIn && this.#takeIf('in')) this.#expression(false);
    else {
      this.#expect(';');
      if (!this.#is(';')) this.#expression(false);
      this.#expect(';');
      if (!this.#is(')')) this.#expression(false);
    }
    this.#expect(')');
    this.#statement();
  }

  /** True for a single one. */
  #declarations(noIn: boolean, isStatement: boolean): boolean {
    let count = 0;
    do {
      this.#name();
      if (this.#takeIf('=')) this.#assignment(noIn);
      count += 1;
    } while (this.#takeIf(','));
    if (isStatement) this.#semicolon();
    return count === 1;
  }

  #jump(): void {
    if (!this.#endsStatement()) this.#name();
    this.#semicolon();
  }

  #return(): void {
    if (this.#functions === 0) throw this.#tokens.error('Illegal return statement');
    if (!this.#endsStatement()) this.#expression(false);
    this.#semicolon();
  }

  #throw(): void {
    if (this.#tokens.current.followsLine) throw this.#tokens.error('Illegal newline after throw');
    this.#expression(false);
    this.#semicolon();
  }

  #switch(): void {
    this.#condition();
    this.#expect('{');
    let hasDefault = false;
    while (!this.#takeIf('}')) {
      if (this.#takeIf('case')) this.#expression(false);
      else if (hasDefault) throw this.#tokens.unexpected();
      else {
        this.#expect('default');
        hasDefault = true;
      }
      this.#expect(':');
      while (!this.#is('case') && !this.#is('default') && !this.#is('}')) this.#statement();
    }
  }

  #try(): void {
    this.#block();
    const hasCatch = this.#takeIf('catch');
    if (hasCatch) {
      this.#expect('(');
      this.#name();
      this.#expect(')');
      this.#block();
    }
    if (this.#takeIf('finally')) this.#block();
    else if (!hasCatch) throw this.#tokens.unexpected();
  }

  /** After its word. */
  #function(mustHaveName: boolean): void {
    if (mustHaveName || this.#tokens.current.type === 'name') this.#name();
    this.#parameters();
    this.#body();
  }

  #parameters(): void {
    this.#expect('(');
    if (this.#takeIf(')')) return;
    do this.#name();
    while (this.#takeIf(','));
    this.#expect(')');
  }

  #body(): void {
    this.#functions += 1;
    this.#block();
    this.#functions -= 1;
  }

  /** Whether the expression just parsed was a name and nothing else. */
  #wasOneName = false;

  #expression(noIn: boolean): boolean {
    let isTarget = this.#assignment(noIn);
    while (this.#takeIf(',')) {
      this.#assignment(noIn);
      isTarget = false;
    }
    return isTarget;
  }

  #assignment(noIn: boolean): boolean {
    return this.#nested(() => {
      const isTarget = this.#conditional(noIn);
      if (this.#tokens.current.type !== 'punctuator' || !ASSIGNMENTS.has(this.#tokens.current.text)) return isTarget;
      if (!isTarget) throw this.#tokens.error('Invalid left-hand side in assignment');
      this.#tokens.take();
      this.#assignment(noIn);
      return false;
    });
  }

  #conditional(noIn: boolean): boolean {
    const isTarget = this.#binary(0, noIn);
    if (!this.#takeIf('?')) return isTarget;
    this.#assignment(false);
    this.#expect(':');
    this.#assignment(noIn);
    return false;
  }

  #binary(above: number, noIn: boolean): boolean {
    let isTarget = this.#unary();
    for (let level = this.#operator(noIn); level > above; level = this.#operator(noIn)) {
      this.#tokens.take();
      this.#binary(level, noIn);
      isTarget = false;
    }
    return isTarget;
  }

  /** The precedence of the operator that comes, 0 when none does. */
  #operator(noIn: boolean): number {
    const { type, text } = this.#tokens.current;
    if ((type !== 'punctuator' && type !== 'keyword') || (noIn && text === 'in')) return 0;
    return PRECEDENCES.get(text) ?? 0;
  }

  #unary(): boolean {
    const { type, text } = this.#tokens.current;
    if ((type !== 'punctuator' && type !== 'keyword') || !PREFIXES.has(text)) return this.#postfix();
    this.#tokens.take();
    const isTarget = this.#nested(() => this.#unary());
    if ((text === '++' || text === '--') && !isTarget)
      throw this.#tokens.error('Invalid left-hand side in prefix operation');
    return false;
  }

  #postfix(): boolean {
    const isTarget = this.#access(true);
    const isPostfix = (this.#is('++') || this.#is('--')) && !this.#tokens.current.followsLine;
    if (!isPostfix) return isTarget;
    if (!isTarget) throw this.#tokens.error('Invalid left-hand side in postfix operation');
    this.#tokens.take();
    return false;
  }

  /** What `new` is applied to has no calls: those parentheses are its own. */
  #access(withCalls: boolean): boolean {
    let isTarget = this.#takeIf('new') ? this.#new() : this.#primary();
    for (;;) {
      if (this.#takeIf('.')) {
        this.#propertyName('name', 'keyword');
        isTarget = true;
      } else if (this.#takeIf('[')) {
        this.#expression(false);
        this.#expect(']');
        isTarget = true;
      } else if (withCalls && this.#is('(')) {
        this.#arguments();
        isTarget = false;
      } else return isTarget;
      this.#wasOneName = false;
    }
  }

  #new(): false {
    this.#nested(() => this.#access(false));
    if (this.#is('(')) this.#arguments();
    return false;
  }

  #arguments(): void {
    this.#expect('(');
    if (this.#takeIf(')')) return;
    do this.#assignment(false);
    while (this.#takeIf(','));
    this.#expect(')');
  }

  #primary(): boolean {
    const { type } = this.#tokens.current;
    this.#wasOneName = type === 'name';
    if (type === 'name' || type === 'number' || type === 'string') return this.#tokens.take().type === 'name';
    if (this.#is('/') || this.#is('/=')) this.#tokens.takeRegex();
    else if (this.#takeIf('(')) {
      const isTarget = this.#expression(false);
      this.#wasOneName = false;
      this.#expect(')');
      return isTarget;
    } else if (this.#takeIf('[')) this.#elements();
    else if (this.#takeIf('{')) this.#properties();
    else if (this.#takeIf('function')) this.#function(false);
    else if (!['this', 'null', 'true', 'false'].some((word) => this.#takeIf(word))) throw this.#tokens.unexpected();
    this.#wasOneName = false;
    return false;
  }

  #elements(): void {
    while (!this.#takeIf(']')) {
      if (this.#takeIf(',')) continue;
      this.#assignment(false);
      if (!this.#is(']')) this.#expect(',');
    }
  }

  #properties(): void {
    while (!this.#takeIf('}')) {
      const { text } = this.#propertyName('name', 'keyword', 'string', 'number');
      const isAccessor = (text === 'get' || text === 'set') && !this.#is(':');
      if (isAccessor) {
        this.#propertyName('name', 'keyword', 'string', 'number');
        this.#parameters();
        this.#body();
      } else {
        this.#expect(':');
        this.#assignment(false);
      }
      if (!this.#is('}')) this.#expect(',');
    }
  }

  #propertyName(...types: string[]) {
    if (!types.includes(this.#tokens.current.type)) throw this.#tokens.unexpected();
    return this.#tokens.take();
  }
}
