import type { Budget } from './budget.ts';
import type { TemplateFunction, TemplateFunctions } from './functions.ts';
import { type Command, type Located, type Operand, type Pipeline, sourceOf } from './nodes.ts';
import { quoted } from './quote.ts';
import { FunctionError } from './template-error.ts';
import { GoNumber, isMap, isTrue, memberOf, typeOf, type Value, valueOf } from './values.ts';

/** No value is piped into a command. It differs from a missing value. */
const NOT_PIPED = Symbol('not piped');
type Piped = Value | typeof NOT_PIPED;

export interface EvaluationPorts {
  functions: TemplateFunctions;
  budget: Budget;
  /** Reports why a key has no value. It is not an error by itself. */
  missed(at: Located, key: string, reason: string): void;
  failed(at: Located, reason: string): Error;
  /** Runs `evaluate` one level deeper. @throws TemplateError when it is too deep */
  nested<T>(evaluate: () => T): T;
}

interface Variable {
  name: string;
  value: Value;
}

/** Evaluates pipelines. It holds the variables of the template that runs. */
export class Evaluation {
  /** The node that errors refer to: the last one that was visited. */
  at: Located = { type: 'dot', at: 0 };
  variables: Variable[] = [];
  readonly #ports: EvaluationPorts;

  constructor(ports: EvaluationPorts) {
    this.#ports = ports;
  }

  /** Returns the value of a pipeline, and assigns it to its variables. */
  pipeline(pipeline: Pipeline, dot: Value): Value {
    return this.#ports.nested(() => {
      this.#visit(pipeline);
      let value: Piped = NOT_PIPED;
      for (const command of pipeline.commands) value = this.#command(command, dot, value);
      const result = value === NOT_PIPED ? undefined : value;
      for (const name of pipeline.variables) {
        if (pipeline.isAssignment) this.assign(name, result);
        else this.variables.push({ name, value: result });
      }
      return result;
    });
  }

  /** Changes the most recently declared variable of this name. */
  assign(name: string, value: Value): void {
    this.#variable(name).value = value;
  }

  error(reason: string): Error {
    return this.#ports.failed(this.at, reason);
  }

  #variable(name: string): Variable {
    const variable = this.variables.findLast((known) => known.name === name);
    if (variable === undefined) throw this.error(`undefined variable: ${name}`);
    return variable;
  }

  #visit(node: Located): void {
    this.at = node;
    this.#ports.budget.step();
  }

  #command(command: Command, dot: Value, piped: Piped): Value {
    const [first, ...args] = command.operands;
    if (first === undefined) return undefined;
    if (first.type === 'function') return this.#call(first, command, args, dot, piped);
    const hasArguments = args.length > 0 || piped !== NOT_PIPED;
    const isPath =
      first.type === 'field' || first.type === 'chain' || (first.type === 'variable' && first.names.length > 0);
    if (isPath) return this.#operand(first, dot, hasArguments);
    if (hasArguments) {
      if (first.type !== 'pipeline') this.#visit(first);
      throw this.error(`can't give argument to non-function ${sourceOf(first)}`);
    }
    if (first.type !== 'nil') return this.#operand(first, dot);
    this.#visit(first);
    throw this.error('nil is not a command');
  }

  /** Returns the value of an operand. With arguments, the last key of a path must be a method, and data has no methods. */
  #operand(operand: Operand, dot: Value, hasArguments = false): Value {
    if (operand.type === 'pipeline') return this.pipeline(operand, dot);
    this.#visit(operand);
    switch (operand.type) {
      case 'dot':
        return dot;
      case 'nil':
        return null;
      case 'bool':
      case 'string':
        return operand.value;
      case 'number':
        return this.#number(operand.value, operand.text);
      case 'field':
        return this.#path(dot, operand.names, hasArguments);
      case 'variable':
        return this.#path(this.#variable(operand.name).value, operand.names, hasArguments);
      case 'chain':
        if (operand.operand.type === 'nil')
          throw this.error(`indirection through explicit nil in ${sourceOf(operand)}`);
        return this.#path(this.#operand(operand.operand, dot), operand.names, hasArguments);
      case 'function':
        return this.#call(operand, operand, [], dot, NOT_PIPED);
    }
  }

  #number(value: bigint | number, text: string): Value {
    if (typeof value === 'number') return new GoNumber('float64', value);
    if (BigInt.asIntN(64, value) !== value) throw this.error(`${text} overflows int`);
    return new GoNumber('int', value);
  }

  #path(from: Value, names: readonly string[], hasArguments: boolean): Value {
    let value = from;
    for (const [index, name] of names.entries()) {
      // Members of the data have the type of any value in Go.
      const type = index === 0 && value !== null ? typeOf(value) : 'interface {}';
      value = this.#member(value, name, type, hasArguments && index === names.length - 1);
    }
    return value;
  }

  #member(from: Value, name: string, type: string, hasArguments: boolean): Value {
    this.#ports.budget.step();
    if (from === undefined) {
      this.#ports.missed(this.at, name, 'nil data; no entry for key');
      return undefined;
    }
    if (from === null) throw this.error(`nil pointer evaluating ${type}.${name}`);
    if (!isMap(from)) throw this.error(`can't evaluate field ${name} in type ${type}`);
    if (hasArguments) throw this.error(`${name} is not a method but has arguments`);
    const value = memberOf(from, name);
    if (value === undefined) this.#ports.missed(this.at, name, 'map has no entry for key');
    return value;
  }

  #call(
    called: Extract<Operand, { type: 'function' }>,
    node: Located,
    operands: readonly Operand[],
    dot: Value,
    piped: Piped,
  ): Value {
    this.#visit(called);
    const run = this.#ports.functions.get(called.name);
    if (run === undefined) throw this.error(`${quoted(called.name)} is not a defined function`);
    this.#assertArity(called.name, run, operands.length + (piped === NOT_PIPED ? 0 : 1));
    if (called.name === 'and' || called.name === 'or') return this.#logic(called.name === 'or', operands, dot, piped);
    const args = operands.map((operand) => this.#operand(operand, dot));
    if (piped !== NOT_PIPED) args.push(piped);
    this.#assertTexts(run, operands, args);
    try {
      return valueOf(run.run(args, this.#ports.budget));
    } catch (error) {
      if (!(error instanceof FunctionError)) throw error;
      this.at = node;
      throw this.error(`error calling ${called.name}: ${withName(error.message, operands[0])}`);
    }
  }

  /** Returns the first value that decides the result, without evaluating those after it. */
  #logic(decides: boolean, operands: readonly Operand[], dot: Value, piped: Piped): Value {
    let value: Value = undefined;
    for (const operand of operands) {
      value = this.#operand(operand, dot);
      if (isTrue(value) === decides) return value;
    }
    return piped === NOT_PIPED ? value : piped;
  }

  #assertArity(name: string, { arity: { min, max } }: TemplateFunction, count: number): void {
    if (count >= min && count <= (max ?? count)) return;
    const wanted = max === undefined ? `at least ${min}` : String(min);
    throw this.error(`wrong number of args for ${name}: want ${wanted} got ${count}`);
  }

  #assertTexts({ texts = [] }: TemplateFunction, operands: readonly Operand[], args: readonly Value[]): void {
    for (const index of texts) {
      const [arg, operand] = [args[index], operands[index]];
      if (typeof arg === 'string') continue;
      if (arg === undefined || arg === null) throw this.error('invalid value; expected string');
      const isConstant = operand?.type === 'number' || operand?.type === 'bool';
      if (isConstant) throw this.error(`expected string; found ${sourceOf(operand)}`);
      throw this.error(`wrong type for value; expected string; got ${typeOf(arg)}`);
    }
  }
}

/** Go names the argument that is not a function. */
const withName = (message: string, operand: Operand | undefined): string =>
  operand === undefined ? message : message.replace(/^non-function of/, `non-function ${sourceOf(operand)} of`);
