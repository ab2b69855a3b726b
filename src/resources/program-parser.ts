import { type Options, Parser, type Program } from 'acorn';

/** The maximum number of nested blocks and functions. Each `var` is looked up in all of those up to its function. */
const MAX_SCOPES = 50;
/** The maximum depth of nested statements, operands and brackets. It is well below what the engine's stack can hold. */
const MAX_DEPTH = 250;

/** The edition of ECMAScript that the engine of the sandbox runs. */
const OPTIONS: Options = { ecmaVersion: 2025, sourceType: 'script' };

/** Acorn's `SCOPE_TOP` and `SCOPE_FUNCTION`: scopes that treat function declarations like `var`. */
const FUNCTION_SCOPE = 1 | 2;
/** Acorn's `SCOPE_VAR`: scopes that no `var` leaves, which are those above and static blocks of classes. */
const VAR_SCOPE = FUNCTION_SCOPE | 256;

/**
 * Acorn's `BIND_VAR`, which parameters are too, `BIND_FUNCTION`, for plain functions in sloppy mode, and
 * `BIND_SIMPLE_CATCH`. All other bindings are lexical.
 */
const VAR = 1;
const FUNCTION = 3;
const CATCH_PARAMETER = 4;

/** The names that a scope declares. */
interface Scope {
  readonly flags: number;
  /** Its own and those of the closed blocks inside it. */
  varNames: Set<string>;
  readonly lexicalNames: Set<string>;
  readonly functionNames: Set<string>;
  /** The parameter of a `catch` if it is a plain name; a `var` may declare that name again. */
  catchParameter?: string;
}

/** Members of acorn's parser that its type declarations omit. */
interface ParserInternals {
  readonly start: number;
  readonly scopeStack: Scope[];
  validateRegExpPattern(state: unknown): void;
  enterScope(flags: number): void;
  exitScope(): void;
  declareName(name: string, binding: number, position: number): void;
  parseStatement(...input: unknown[]): unknown;
  parseMaybeUnary(...input: unknown[]): unknown;
  raise(position: number, message: string): never;
}

const BaseParser = Parser as unknown as {
  new (): ParserInternals;
  parse(program: string, options: Options): Program;
};

/**
 * Acorn with limits on nesting, and with sets of declared names. Acorn itself searches lists at each declaration and
 * adds a `var` to every enclosing block, so that its time grows with the square of the number of names and with the
 * depth.
 */
class ProgramParser extends BaseParser {
  #depth = 0;

  /** Leaves regular expressions to the engine, because `(?i)`, `[[:alpha:]]` and `(?P<name>` are valid in filters. */
  override validateRegExpPattern(): void {}

  override enterScope(flags: number): void {
    this.scopeStack.push({ flags, varNames: new Set(), lexicalNames: new Set(), functionNames: new Set() });
    if (this.scopeStack.length > MAX_SCOPES) {
      this.raise(this.start, `Blocks and functions nested more than ${MAX_SCOPES} deep`);
    }
  }

  override exitScope(): void {
    const inner = this.scopeStack.pop()!;
    const outer = this.scopeStack.at(-1);
    if (outer !== undefined && !(inner.flags & VAR_SCOPE)) {
      outer.varNames = mergeIntoLarger(outer.varNames, inner.varNames);
    }
  }

  /** Declares a name in the innermost scope. @throws SyntaxError if it conflicts with an earlier declaration */
  override declareName(name: string, binding: number, position: number): void {
    const scope = this.scopeStack.at(-1)!;
    if (this.#conflicts(scope, name, binding)) {
      this.raise(position, `Identifier '${name}' has already been declared`);
    }
    if (binding === VAR) scope.varNames.add(name);
    else if (binding === FUNCTION) scope.functionNames.add(name);
    else scope.lexicalNames.add(name);
    if (binding === CATCH_PARAMETER) scope.catchParameter = name;
  }

  override parseStatement(...input: unknown[]): unknown {
    return this.#nested(() => super.parseStatement(...input));
  }

  override parseMaybeUnary(...input: unknown[]): unknown {
    return this.#nested(() => super.parseMaybeUnary(...input));
  }

  #conflicts({ flags, varNames, lexicalNames, functionNames }: Scope, name: string, binding: number): boolean {
    if (binding === VAR) return !varNames.has(name) && this.#conflictsWithVar(name);
    if (lexicalNames.has(name)) return true;
    if (binding === FUNCTION) return !(flags & FUNCTION_SCOPE) && varNames.has(name);
    return functionNames.has(name) || varNames.has(name);
  }

  /** Whether a scope up to the enclosing function declares the name as something that no `var` may declare again. */
  #conflictsWithVar(name: string): boolean {
    for (let index = this.scopeStack.length - 1; index >= 0; index -= 1) {
      const { flags, lexicalNames, functionNames, catchParameter } = this.scopeStack[index]!;
      if (lexicalNames.has(name) && name !== catchParameter) return true;
      if (!(flags & FUNCTION_SCOPE) && functionNames.has(name)) return true;
      if (flags & VAR_SCOPE) return false;
    }
    return false;
  }

  #nested(parseNode: () => unknown): unknown {
    if (this.#depth >= MAX_DEPTH) this.raise(this.start, `Nested more than ${MAX_DEPTH} deep`);
    this.#depth += 1;
    const node = parseNode();
    this.#depth -= 1;
    return node;
  }
}

/** Adds the smaller set to the larger one, and returns that: copying the smaller one keeps deep nesting cheap. */
function mergeIntoLarger(one: Set<string>, other: Set<string>): Set<string> {
  const [larger, smaller] = one.size < other.size ? [other, one] : [one, other];
  for (const name of smaller) larger.add(name);
  return larger;
}

/**
 * Parses a program in sloppy mode. Does not check regular expressions.
 * @throws SyntaxError of acorn, with `pos`, `loc` and a message that ends with the place
 */
export const parseOrThrow = (program: string): Program => ProgramParser.parse(program, OPTIONS);
