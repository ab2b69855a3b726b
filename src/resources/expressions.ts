import type { Program } from 'acorn';
import { InvalidResource } from './errors.ts';
import { parseOrThrow } from './program-parser.ts';

/** The limit of one resource. The limits keep the time to parse all expressions of a request below 100 ms. */
const MAX_EXPRESSIONS = 1_000;
/** The limit of one expression, in characters. */
const MAX_EXPRESSION_LENGTH = 10_000;
/** The limit of all expressions of one resource together, in characters. */
const MAX_TOTAL_LENGTH = 50_000;

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
    return parseOrThrow(program);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

/** The first error and its place, or undefined for a valid program. Lines and columns count from 1. */
function syntaxErrorOf(program: string): string | undefined {
  try {
    parseOrThrow(program);
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
