import type { Budget } from './budget.ts';
import { Evaluation } from './evaluation.ts';
import { printed, sortedKeys } from './format-value.ts';
import type { TemplateFunctions } from './functions.ts';
import { type Branch, type Call, type Located, sourceOf, type Statement } from './nodes.ts';
import type { Template } from './parser.ts';
import { columnOf, lineOf } from './position.ts';
import { quoted } from './quote.ts';
import { FunctionError, TemplateError } from './template-error.ts';
import { GoNumber, isList, isMap, isTrue, type Value, valueOf } from './values.ts';

/** The maximum depth of templates, lists of statements and pipelines within each other. */
const MAX_DEPTH = 500;
/** The characters of the source that an error quotes. */
const MAX_QUOTED = 1_000;

export interface Execution {
  text: string;
  /** Describes the first key that a map did not have; undefined when all keys were found. */
  missing: string | undefined;
}

/** Executes a template. The output and the work are counted in `budget`. @throws TemplateError */
export function executeTemplate(
  template: Template,
  data: unknown,
  functions: TemplateFunctions,
  budget: Budget,
): Execution {
  const run = new TemplateRun(template, functions, budget);
  run.execute(valueOf(data));
  return { text: run.text(), missing: run.missing };
}

/** The statement that ended a list of statements early. */
type Leave = 'break' | 'continue' | undefined;

class TemplateRun {
  missing: string | undefined;
  readonly #template: Template;
  readonly #budget: Budget;
  readonly #evaluation: Evaluation;
  readonly #pieces: string[] = [];
  /** The name of the template that runs, which may be a defined one. */
  #name: string;
  #depth = 0;

  constructor(template: Template, functions: TemplateFunctions, budget: Budget) {
    this.#template = template;
    this.#name = template.name;
    this.#budget = budget;
    this.#evaluation = new Evaluation({
      functions,
      budget,
      missed: (at, key, reason) => {
        this.missing ??= this.#describe(at, `${reason} ${quoted(key)}`);
      },
      failed: (at, reason) => new TemplateError('exec', this.#describe(at, reason)),
      nested: (evaluate) => this.#nested(evaluate),
    });
  }

  execute(data: Value): void {
    this.#evaluation.variables = [{ name: '$', value: data }];
    this.#list(this.#template.body, data);
  }

  text(): string {
    return this.#pieces.join('');
  }

  #list(statements: readonly Statement[], dot: Value): Leave {
    return this.#nested(() => {
      for (const statement of statements) {
        this.#budget.step();
        const leave = this.#statement(statement, dot);
        if (leave !== undefined) return leave;
      }
      return undefined;
    });
  }

  #statement(statement: Statement, dot: Value): Leave {
    switch (statement.type) {
      case 'text':
        this.#write(statement.text);
        return undefined;
      case 'action': {
        const value = this.#evaluation.pipeline(statement.pipeline, dot);
        if (statement.pipeline.variables.length === 0) this.#print(value);
        return undefined;
      }
      case 'if':
      case 'with':
      case 'range':
        return this.#scoped(() => this.#branch(statement, dot));
      case 'template':
        this.#call(statement, dot);
        return undefined;
      case 'break':
      case 'continue':
        return statement.type;
    }
  }

  /** Variables that are declared inside are forgotten afterwards. */
  #scoped<T>(run: () => T): T {
    const { variables } = this.#evaluation;
    const known = variables.length;
    const result = run();
    variables.length = known;
    return result;
  }

  #branch(branch: Branch, dot: Value): Leave {
    const value = this.#evaluation.pipeline(branch.pipeline, dot);
    if (branch.type === 'range') return this.#range(branch, value, dot);
    if (isTrue(value)) return this.#list(branch.body, branch.type === 'with' ? value : dot);
    return this.#list(branch.otherwise, dot);
  }

  #range(branch: Branch, value: Value, dot: Value): Leave {
    let isEmpty = true;
    for (const [index, element] of this.#elements(branch, value)) {
      isEmpty = false;
      if (this.#iteration(branch, index, element) === 'break') break;
    }
    return isEmpty ? this.#list(branch.otherwise, dot) : undefined;
  }

  #iteration({ pipeline, body }: Branch, index: Value, element: Value): Leave {
    this.#budget.step();
    const { variables } = pipeline;
    const [first, second] = variables;
    if (first !== undefined)
      this.#set(pipeline.isAssignment, first, variables.length, second === undefined ? element : index);
    if (second !== undefined) this.#set(pipeline.isAssignment, second, 1, element);
    return this.#scoped(() => this.#list(body, element));
  }

  /** Sets a variable of a range: by its name, or a new one by its place from the end. */
  #set(isAssignment: boolean, name: string, place: number, value: Value): void {
    const variable = this.#evaluation.variables.at(-place);
    if (isAssignment || variable === undefined) this.#evaluation.assign(name, value);
    else variable.value = value;
  }

  *#elements(branch: Branch, value: Value): Generator<[Value, Value]> {
    if (isList(value)) {
      for (const [index, element] of value.entries()) yield [new GoNumber('int', BigInt(index)), valueOf(element)];
    } else if (isMap(value)) {
      for (const key of sortedKeys(value, this.#budget)) yield [key, valueOf(value[key])];
    } else if (value instanceof GoNumber && typeof value.value === 'bigint') {
      if (branch.pipeline.variables.length > 1) {
        throw this.#evaluation.error(`can't use ${value.value} to iterate over more than one variable`);
      }
      for (let index = 0n; index < value.value; index += 1n) {
        const element = new GoNumber(value.type, index);
        yield [element, element];
      }
    } else if (value !== undefined && value !== null) {
      throw this.#evaluation.error(`range can't iterate over ${printed(value, this.#budget).slice(0, MAX_QUOTED)}`);
    }
  }

  #call(call: Call, dot: Value): void {
    const { defined, name, body } = this.#template;
    const evaluation = this.#evaluation;
    const called = defined.get(call.name) ?? (call.name === name ? body : undefined);
    evaluation.at = call;
    if (called === undefined) throw evaluation.error(`template ${quoted(call.name)} not defined`);
    const data = call.pipeline === undefined ? undefined : evaluation.pipeline(call.pipeline, dot);
    const outer = { variables: evaluation.variables, name: this.#name };
    evaluation.variables = [{ name: '$', value: data }];
    evaluation.at = call;
    this.#name = call.name;
    this.#list(called, data);
    evaluation.variables = outer.variables;
    this.#name = outer.name;
  }

  #print(value: Value): void {
    try {
      this.#write(printed(value, this.#budget));
    } catch (error) {
      if (!(error instanceof FunctionError)) throw error;
      throw this.#evaluation.error(error.message);
    }
  }

  #write(text: string): void {
    this.#budget.output(text);
    this.#pieces.push(text);
  }

  #nested<T>(run: () => T): T {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw this.#evaluation.error(`exceeded maximum template depth (${MAX_DEPTH})`);
    const result = run();
    this.#depth -= 1;
    return result;
  }

  #describe(at: Located, reason: string): string {
    const { name, source } = this.#template;
    const position = `${lineOf(source, at.at)}:${columnOf(source, at.at)}`;
    const quotedSource = sourceOf(at);
    const shown = quotedSource.length > MAX_QUOTED ? `${quotedSource.slice(0, MAX_QUOTED)}...` : quotedSource;
    return `template: ${name}:${position}: executing ${quoted(this.#name)} at <${shown}>: ${reason}`;
  }
}
