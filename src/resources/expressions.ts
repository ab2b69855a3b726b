import { type Options, Parser, type Program } from 'acorn';
import { InvalidResource } from './errors.ts';

/** The limit of one resource. The limits keep the time to parse all expressions of a request below 100 ms. */
const MAX_EXPRESSIONS = 1_000;
/** The limit of one expression. The parse time of a program that declares many names grows with the square of its length. */
const MAX_EXPRESSION_LENGTH = 10_000;
/** The limit of all expressions of one resource together. */
const MAX_TOTAL_LENGTH = 50_000;
/** The maximum number of nested blocks and functions. Each declaration of a variable searches all of them. */
const MAX_SCOPES = 50;
/** The maximum depth of nested statements, operands and brackets. It is well below what the engine's stack can hold. */
const MAX_DEPTH = 250;

/** The edition of ECMAScript that the engine of the sandbox runs. */
const OPTIONS: Options = { ecmaVersion: 2025, sourceType: 'script' };

/** Members of acorn's parser that its type declarations omit. */
interface ParserInternals {
  readonly start: number;
  readonly scopeStack: readonly unknown[];
  enterScope(flags: number): void;
  parseStatement(...input: unknown[]): unknown;
  parseMaybeUnary(...input: unknown[]): unknown;
  raise(position: number, message: string): never;
}

const BaseParser = Parser as unknown as {
  new (): ParserInternals;
  parse(program: string, options: Options): Program;
};

class ProgramParser extends BaseParser {
  /** Leaves regular expressions to the engine, because `(?i)`, `[[:alpha:]]` and `(?P<name>` are valid in filters. */
  validateRegExpPattern(): void {}

  #depth = 0;

  override enterScope(flags: number): void {
    super.enterScope(flags);
    if (this.scopeStack.length > MAX_SCOPES) {
      this.raise(this.start, `Blocks and functions nested more than ${MAX_SCOPES} deep`);
    }
  }

  override parseStatement(...input: unknown[]): unknown {
    return this.#deeper(() => super.parseStatement(...input));
  }

  override parseMaybeUnary(...input: unknown[]): unknown {
    return this.#deeper(() => super.parseMaybeUnary(...input));
  }

  #deeper(parse: () => unknown): unknown {
    if (this.#depth >= MAX_DEPTH) this.raise(this.start, `Nested more than ${MAX_DEPTH} deep`);
    this.#depth += 1;
    const node = parse();
    this.#depth -= 1;
    return node;
  }
}

/**
 * Validates the expressions of one resource. Each is a JavaScript program in sloppy mode; an empty one is valid.
 * Source: spec/04 2.7, "Language". @throws InvalidResource that names the expression by its index
 */
export function assertExpressions(expressions: readonly string[]): void {
  assertSizeOfExpressions(expressions);
  for (const [index, expression] of expressions.entries()) {
    const error = syntaxErrorOf(expression);
    if (error !== undefined) throw new InvalidResource(`syntax error in expression ${index}: ${error}`);
  }
}

/** Validates the number and the lengths of all expressions of one resource. @throws InvalidResource with the limit */
export function assertSizeOfExpressions(expressions: readonly string[]): void {
  if (expressions.length > MAX_EXPRESSIONS) {
    throw new InvalidResource(`there must be at most ${MAX_EXPRESSIONS} expressions`);
  }
  let total = 0;
  for (const [index, { length }] of expressions.entries()) {
    if (length > MAX_EXPRESSION_LENGTH) {
      throw new InvalidResource(`expression ${index} must be at most ${MAX_EXPRESSION_LENGTH} characters`);
    }
    total += length;
  }
  if (total > MAX_TOTAL_LENGTH) {
    throw new InvalidResource(`expressions must be at most ${MAX_TOTAL_LENGTH} characters together`);
  }
}

/** Returns the syntax tree of a program, or undefined if it is not valid. Does not check regular expressions. */
export function parseProgram(program: string): Program | undefined {
  try {
    return ProgramParser.parse(program, OPTIONS);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

/** The first error and its place, or undefined for a valid program. Lines and columns count from 1. */
function syntaxErrorOf(program: string): string | undefined {
  try {
    ProgramParser.parse(program, OPTIONS);
    return undefined;
  } catch (error) {
    if (!isParseError(error)) throw error;
    // The message ends with the place, whose column counts from 0.
    const message = error.message.replace(/ \(\d+:\d+\)$/, '');
    const endsTooEarly = message === 'Unexpected token' && error.pos === program.length;
    return `Line ${error.loc.line}:${error.loc.column + 1} ${endsTooEarly ? 'Unexpected end of input' : message}`;
  }
}

interface ParseError extends SyntaxError {
  pos: number;
  loc: { line: number; column: number };
}

const isParseError = (error: unknown): error is ParseError => error instanceof SyntaxError && 'loc' in error;
