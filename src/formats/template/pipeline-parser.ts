import type { Command, Operand, Pipeline } from './nodes.ts';
import { keywordOf, type LexemeReader } from './lexeme-reader.ts';
import type { Lexeme } from './lexer.ts';
import { numberValue, stringValue } from './literals.ts';
import { sourceOf } from './nodes.ts';

/** The maximum nesting of parentheses. */
const MAX_NESTING = 100;
/** The maximum number of variables that are known in one place. */
const MAX_VARIABLES = 200;
const NOT_EXECUTABLE = new Set<Operand['type']>(['bool', 'dot', 'nil', 'number', 'string']);
const OPERAND_TYPES = new Set<Lexeme['type']>([
  'bool',
  'character',
  'dot',
  'field',
  'identifier',
  'number',
  'raw',
  'string',
  'variable',
]);

/** Parses the pipelines in the actions of a template, such as `$x := index .list 0 | default "a"`. */
export class PipelineParser {
  /** The variables that are known here, in the order of their declarations. */
  readonly variables = ['$'];
  readonly #reader: LexemeReader;
  readonly #functions: { has(name: string): boolean };
  #nesting = 0;

  constructor(reader: LexemeReader, functions: { has(name: string): boolean }) {
    this.#reader = reader;
    this.#functions = functions;
  }

  /** Parses up to `close` or the closing parenthesis, which is consumed. @throws TemplateError */
  parse(context: string, ending: 'close' | 'paren'): Pipeline {
    const reader = this.#reader;
    const { at } = reader.peek();
    const { first, variables, isAssignment } = this.#declaration(context);
    const commands = first === undefined ? [] : [this.#command(first)];
    for (;;) {
      const lexeme = reader.peek();
      if (ending === 'close' ? lexeme.type === 'close' : isMark(lexeme, ')')) {
        reader.next();
        break;
      }
      if (!beginsOperand(lexeme)) {
        reader.next();
        throw reader.unexpected(context);
      }
      commands.push(this.#command());
    }
    this.#check(commands, context);
    return { type: 'pipeline', at, variables, isAssignment, commands };
  }

  /** Parses `$x :=`, `$x =`, and in a range `$i, $x :=`. `first` is a variable that was read and is not a declaration. */
  #declaration(context: string): { variables: string[]; isAssignment: boolean; first: Lexeme | undefined } {
    const reader = this.#reader;
    const variables: string[] = [];
    const none = { variables: [], isAssignment: false, first: undefined };
    if (reader.peek().type !== 'variable') return none;
    for (;;) {
      const variable = reader.next();
      const following = reader.peek();
      if (isMark(following, ':=') || isMark(following, '=')) {
        reader.next();
        variables.push(variable.text);
        this.variables.push(...variables.filter((name) => !this.variables.includes(name)));
        if (this.variables.length > MAX_VARIABLES) throw reader.error(`more than ${MAX_VARIABLES} variables`);
        return { variables, isAssignment: following.text === '=', first: undefined };
      }
      if (!isMark(following, ',')) return { ...none, first: variable };
      reader.next();
      if (context !== 'range' || variables.length > 0) throw reader.error(`too many declarations in ${context}`);
      variables.push(variable.text);
      if (reader.peek().type !== 'variable') throw reader.error('range can only initialize variables');
    }
  }

  #check(commands: readonly Command[], context: string): void {
    if (commands.length === 0) throw this.#reader.error(`missing value for ${context}`);
    for (const [index, { operands }] of commands.entries()) {
      if (index > 0 && operands[0] !== undefined && NOT_EXECUTABLE.has(operands[0].type)) {
        throw this.#reader.error(`non executable command in pipeline stage ${index + 1}`);
      }
    }
  }

  /** Parses up to `|`, which is consumed, or to the end of the pipeline, which is not. `first` is its first lexeme, if it was read. */
  #command(first?: Lexeme): Command {
    const reader = this.#reader;
    const operands: Operand[] = [];
    const { at } = first ?? reader.peek();
    let lexeme = first;
    for (;;) {
      if (lexeme === undefined && beginsOperand(reader.peek())) lexeme = reader.next();
      if (lexeme !== undefined) operands.push(this.#operand(lexeme));
      lexeme = undefined;
      const following = reader.peek();
      if (following.type === 'close' || isMark(following, ')')) break;
      if (following.isSpaced && beginsOperand(following)) continue;
      reader.next();
      if (isMark(following, '|')) break;
      throw reader.unexpected('operand');
    }
    return { type: 'command', at, operands };
  }

  #operand(lexeme: Lexeme): Operand {
    const operand = this.#term(lexeme);
    const { at, type, isSpaced } = this.#reader.peek();
    if (type !== 'field' || isSpaced) return operand;
    const names: string[] = [];
    for (let next = this.#reader.peek(); next.type === 'field' && !next.isSpaced; next = this.#reader.peek()) {
      names.push(this.#reader.next().text.slice(1));
    }
    if (operand.type === 'field' || operand.type === 'variable') {
      return { ...operand, at, names: [...operand.names, ...names] };
    }
    if (NOT_EXECUTABLE.has(operand.type)) {
      throw this.#reader.error(`unexpected . after term ${JSON.stringify(sourceOf(operand))}`);
    }
    return { type: 'chain', at, operand, names };
  }

  #term({ type, text, at }: Lexeme): Operand {
    switch (type) {
      case 'dot':
        return { type: 'dot', at };
      case 'keyword':
        return { type: 'nil', at };
      case 'bool':
        return { type: 'bool', at, value: text === 'true' };
      case 'field':
        return { type: 'field', at, names: [text.slice(1)] };
      case 'variable':
        this.#assertKnown(text);
        return { type: 'variable', at, name: text, names: [] };
      case 'identifier':
        if (!this.#functions.has(text)) {
          throw this.#reader.error(`function ${JSON.stringify(text)} not defined`);
        }
        return { type: 'function', at, name: text };
      case 'number':
        return {
          type: 'number',
          at,
          text,
          value: this.#valid(numberValue(text), `illegal number syntax: ${JSON.stringify(text)}`),
        };
      case 'character':
        return { type: 'number', at, text, value: this.#character(text) };
      case 'mark':
        return this.#parenthesized();
      case 'string':
      case 'raw':
        return { type: 'string', at, text, value: this.#valid(stringValue(text), 'invalid syntax') };
      case 'text':
      case 'open':
      case 'close':
      case 'end':
      case 'error':
        throw this.#reader.unexpected('operand');
    }
  }

  #character(text: string): bigint {
    const [character, ...others] = this.#valid(stringValue(text), `malformed character constant: ${text}`);
    const isSingle = character !== undefined && others.length === 0;
    return BigInt(
      this.#valid(isSingle ? character.codePointAt(0) : undefined, `malformed character constant: ${text}`),
    );
  }

  #parenthesized(): Pipeline {
    this.#nesting += 1;
    if (this.#nesting > MAX_NESTING) throw this.#reader.error('max expression depth exceeded');
    const pipeline = this.parse('parenthesized pipeline', 'paren');
    this.#nesting -= 1;
    return pipeline;
  }

  #assertKnown(name: string): void {
    if (!this.variables.includes(name)) throw this.#reader.error(`undefined variable ${JSON.stringify(name)}`);
  }

  #valid<T>(value: T | undefined, reason: string): T {
    if (value === undefined) throw this.#reader.error(reason);
    return value;
  }
}

const isMark = ({ type, text }: Lexeme, mark: string): boolean => type === 'mark' && text === mark;

const beginsOperand = (lexeme: Lexeme): boolean =>
  OPERAND_TYPES.has(lexeme.type) || isMark(lexeme, '(') || keywordOf(lexeme) === 'nil';
