import type { Branch, Pipeline, Statement } from './nodes.ts';
import { keywordOf, LexemeReader } from './lexeme-reader.ts';
import { PipelineParser } from './pipeline-parser.ts';
import { stringValue } from './literals.ts';

/** The maximum nesting of control structures. */
const MAX_NESTING = 100;

/** A parsed template, and the templates that it defines. */
export interface Template {
  name: string;
  source: string;
  body: readonly Statement[];
  defined: ReadonlyMap<string, readonly Statement[]>;
  /** How many lexemes it has, as a measure of its size. */
  lexemes: number;
}

export interface ParseOptions {
  /** The functions that the template may call. */
  functions: { has(name: string): boolean };
  maxLexemes: number;
}

type Ending = 'end' | 'else' | 'eof';

/** Parses a template of Go's text/template. @throws TemplateError of kind `parse` or `limit` */
export function parseTemplate(name: string, source: string, { functions, maxLexemes }: ParseOptions): Template {
  const reader = new LexemeReader(name, source, maxLexemes);
  const parser = new TemplateParser(reader, new PipelineParser(reader, functions));
  const body = parser.whole();
  return { name, source, body, defined: parser.defined, lexemes: reader.count };
}

class TemplateParser {
  readonly defined = new Map<string, readonly Statement[]>();
  readonly #reader: LexemeReader;
  readonly #pipelines: PipelineParser;
  #ranges = 0;
  #nesting = 0;
  /** The keyword that ended the last list of statements. */
  #ending: Ending = 'eof';

  constructor(reader: LexemeReader, pipelines: PipelineParser) {
    this.#reader = reader;
    this.#pipelines = pipelines;
  }

  whole(): Statement[] {
    const body = this.#statements(true);
    if (this.#ending !== 'eof') throw this.#reader.error(`unexpected {{${this.#ending}}}`);
    return body;
  }

  /** Parses up to the statement that ends the list, which is consumed; of `else` only the word, because a branch may follow. */
  #statements(isOutermost = false): Statement[] {
    const found: Statement[] = [];
    for (;;) {
      const { type, text } = this.#reader.next();
      if (type === 'end') {
        this.#ending = 'eof';
        return found;
      }
      if (type === 'text') found.push({ type, text });
      else if (type !== 'open') throw this.#reader.unexpected('input');
      else {
        this.#reader.actionBegins();
        const word = keywordOf(this.#reader.peek());
        if (word === 'end' || word === 'else') {
          this.#reader.next();
          if (word === 'end') this.#close('end');
          this.#ending = word;
          return found;
        }
        if (word === 'define' && isOutermost) this.#define();
        else found.push(...this.#action(word));
      }
    }
  }

  #action(word: string | undefined): Statement[] {
    const reader = this.#reader;
    switch (word) {
      case 'if':
      case 'with':
      case 'range':
        reader.next();
        return [this.#branch(word)];
      case 'block':
        return [this.#block()];
      case 'template':
        return [this.#call()];
      case 'break':
      case 'continue': {
        const { at } = reader.next();
        this.#close(`{{${word}}}`);
        if (this.#ranges === 0) throw reader.error(`{{${word}}} outside {{range}}`);
        return [{ type: word, at }];
      }
      case undefined:
      default: {
        const { at } = reader.peek();
        const pipeline = this.#pipelines.parse('command', 'close');
        reader.actionEnds();
        return [{ type: 'action', at, pipeline }];
      }
    }
  }

  #branch(type: Branch['type']): Branch {
    const { variables } = this.#pipelines;
    const known = variables.length;
    const pipeline = this.#pipelines.parse(type, 'close');
    this.#reader.actionEnds();
    this.#enter();
    if (type === 'range') this.#ranges += 1;
    const body = this.#statements();
    if (type === 'range') this.#ranges -= 1;
    const otherwise = this.#ending === 'else' ? this.#otherwise(type) : [];
    if (this.#ending === 'eof') throw this.#reader.error('unexpected EOF');
    this.#nesting -= 1;
    variables.length = known;
    return { type, at: pipeline.at, pipeline, body, otherwise };
  }

  /** Parses what follows `else`. `else if` of an `if`, and `else with` of a `with`, share its `end`. */
  #otherwise(type: Branch['type']): Statement[] {
    const word = keywordOf(this.#reader.peek());
    if (word === type && (word === 'if' || word === 'with')) {
      this.#reader.next();
      return [this.#branch(word)];
    }
    this.#close('else');
    const found = this.#statements();
    if (this.#ending === 'else') throw this.#reader.error('expected end; found {{else}}');
    return found;
  }

  #define(): void {
    this.#reader.next();
    const { name } = this.#name('define clause');
    this.#close('define clause');
    this.#definition(name, 'define clause');
  }

  #block(): Statement {
    this.#reader.next();
    const { name, at } = this.#name('block clause');
    const pipeline = this.#pipelines.parse('block clause', 'close');
    this.#reader.actionEnds();
    this.#definition(name, 'block clause');
    return { type: 'template', at, name, pipeline };
  }

  #definition(name: string, context: string): void {
    const { variables } = this.#pipelines;
    const outer = variables.splice(0, variables.length, '$');
    const ranges = this.#ranges;
    this.#ranges = 0;
    this.#enter();
    const body = this.#statements();
    if (this.#ending !== 'end') throw this.#unclosed(context);
    this.#nesting -= 1;
    this.#ranges = ranges;
    variables.splice(0, variables.length, ...outer);
    this.#add(name, body);
  }

  #unclosed(context: string): Error {
    if (this.#ending === 'eof') return this.#reader.error('unexpected EOF');
    return this.#reader.error(`unexpected {{else}} in ${context}`);
  }

  /** An empty definition does not replace another one. */
  #add(name: string, body: readonly Statement[]): void {
    const isEmpty = (list: readonly Statement[]): boolean =>
      list.every((statement) => statement.type === 'text' && statement.text.trim() === '');
    const known = this.defined.get(name);
    if (known !== undefined && !isEmpty(known)) {
      if (isEmpty(body)) return;
      throw this.#reader.error(`template: multiple definition of template ${JSON.stringify(name)}`);
    }
    this.defined.set(name, body);
  }

  #call(): Statement {
    this.#reader.next();
    const { name, at } = this.#name('template clause');
    let pipeline: Pipeline | undefined;
    if (this.#reader.peek().type === 'close') this.#reader.next();
    else pipeline = this.#pipelines.parse('template clause', 'close');
    this.#reader.actionEnds();
    return { type: 'template', at, name, pipeline };
  }

  #name(context: string): { name: string; at: number } {
    const { type, text, at } = this.#reader.next();
    if (type !== 'string' && type !== 'raw') throw this.#reader.unexpected(context);
    const name = stringValue(text);
    if (name === undefined) throw this.#reader.error('invalid syntax');
    return { name, at };
  }

  #close(context: string): void {
    if (this.#reader.next().type !== 'close') throw this.#reader.unexpected(context);
    this.#reader.actionEnds();
  }

  #enter(): void {
    this.#nesting += 1;
    if (this.#nesting > MAX_NESTING) throw this.#reader.error(`more than ${MAX_NESTING} nested actions`);
  }
}
