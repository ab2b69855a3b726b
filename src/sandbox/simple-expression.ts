import type {
  BinaryExpression,
  CallExpression,
  ConditionalExpression,
  Expression,
  LogicalExpression,
  MemberExpression,
  UnaryExpression,
} from 'acorn';
import type { Event } from '../resources/event.ts';
import { parseProgram } from '../resources/expressions.ts';
import { filterEvent, filterMember } from './filter-event.ts';
import { callMethod, callTimeFunction, isMethod, isTimeFunction } from './simple-calls.ts';
import { binary, isBinaryOperator, isUnaryOperator, unary } from './simple-operators.ts';
import { NOT_SIMPLE } from './not-simple.ts';

/** A longer expression is left to the engine. */
const MAX_LENGTH = 2_000;
/** The work that one decision may cost the caller, in nodes and compared characters. */
const MAX_WORK = 100_000;

/** The data that simple expressions of one decision read. */
export class SimpleScope {
  readonly nowMs: number;
  readonly #event: Event;
  readonly #members = new Map<string, unknown>();
  #left = MAX_WORK;

  constructor(event: Event, nowMs: number) {
    this.#event = event;
    this.nowMs = nowMs;
  }

  /** Counts work. @throws NOT_SIMPLE when it is too much */
  spend(work: number): void {
    this.#left -= work;
    if (this.#left < 0) throw NOT_SIMPLE;
  }

  whole(): unknown {
    return filterEvent(this.#event);
  }

  /** A member of the event. */
  member(name: string): unknown {
    if (this.#members.has(name)) return this.#members.get(name);
    const value = name in Object.prototype ? notSimple() : filterMember(this.#event, name);
    this.#members.set(name, value);
    return value;
  }
}

/** Evaluates an expression. @throws NOT_SIMPLE when its value depends on what only the engine does exactly */
export type SimpleExpression = (scope: SimpleScope) => unknown;

/**
 * Compiles a program that consists of one simple expression: members of `event`, literals, operators, and calls of a few
 * functions without effects. Returns undefined for every other program.
 */
export function simpleExpression(program: string): SimpleExpression | undefined {
  if (program.length > MAX_LENGTH) return undefined;
  const statements = parseProgram(program)?.body;
  if (statements === undefined || statements.length > 1) return undefined;
  const [statement] = statements;
  if (statement === undefined) return () => undefined;
  return statement.type === 'ExpressionStatement' ? compile(statement.expression) : undefined;
}

function compile(node: Expression): SimpleExpression | undefined {
  const { type } = node;
  if (type === 'ParenthesizedExpression') return compile(node.expression);
  if (type === 'Literal') return isPlain(node.value) && !node.regex ? constant(node.value) : undefined;
  if (type === 'Identifier') return compileIdentifier(node.name);
  if (type === 'MemberExpression') return compileMember(node);
  if (type === 'UnaryExpression') return compileUnary(node);
  if (type === 'BinaryExpression') return compileBinary(node);
  if (type === 'LogicalExpression') return compileLogical(node);
  if (type === 'ConditionalExpression') return compileConditional(node);
  if (type === 'ArrayExpression') return compileList(node.elements);
  return type === 'CallExpression' ? compileCall(node) : undefined;
}

function compileLogical(node: LogicalExpression): SimpleExpression | undefined {
  const [left, right] = [compile(node.left), compile(node.right)];
  if (left === undefined || right === undefined) return undefined;
  if (node.operator === '&&') return (scope) => left(scope) && right(scope);
  if (node.operator === '||') return (scope) => left(scope) || right(scope);
  return (scope) => left(scope) ?? right(scope);
}

function compileConditional(node: ConditionalExpression): SimpleExpression | undefined {
  const [test, then, otherwise] = [compile(node.test), compile(node.consequent), compile(node.alternate)];
  if (test === undefined || then === undefined || otherwise === undefined) return undefined;
  return (scope) => (test(scope) ? then(scope) : otherwise(scope));
}

const constant = (value: unknown): SimpleExpression => {
  return () => value;
};

const isPlain = (value: unknown): boolean =>
  value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';

function compileIdentifier(name: string): SimpleExpression | undefined {
  if (name === 'event') return (scope) => scope.whole();
  if (name === 'undefined') return constant(undefined);
  if (name === 'NaN') return constant(NaN);
  return name === 'Infinity' ? constant(Infinity) : undefined;
}

function compileMember({ object, property, computed, optional }: MemberExpression): SimpleExpression | undefined {
  if (optional === true || object.type === 'Super') return undefined;
  if (!computed) {
    if (property.type !== 'Identifier') return undefined;
    const { name } = property;
    if (object.type === 'Identifier' && object.name === 'event') return (scope) => scope.member(name);
    const owner = compile(object);
    return owner && ((scope) => read(owner(scope), name, scope));
  }
  if (property.type === 'PrivateIdentifier') return undefined;
  const [owner, key] = [compile(object), compile(property)];
  if (owner === undefined || key === undefined) return undefined;
  return (scope) => {
    const from = owner(scope);
    const name = key(scope);
    if (typeof name !== 'string' && typeof name !== 'number') throw NOT_SIMPLE;
    return read(from, String(name), scope);
  };
}

/** Reads an own property. Properties of prototypes, and of values that are not objects, are left to the engine. */
function read(from: unknown, name: string, scope: SimpleScope): unknown {
  scope.spend(1);
  if (typeof from === 'string' && name === 'length') return from.length;
  if (typeof from !== 'object' || from === null) throw NOT_SIMPLE;
  if (Object.hasOwn(from, name)) return (from as Record<string, unknown>)[name];
  return hasInherited(from, name) ? notSimple() : undefined;
}

/** Methods of lists may differ between engines, so that only indexes are certain. */
const hasInherited = (object: object, name: string): boolean =>
  name in Object.prototype || (Array.isArray(object) && !/^-?\d+(?:\.\d+)?$/.test(name));

function notSimple(): never {
  throw NOT_SIMPLE;
}

function compileUnary({ operator, argument }: UnaryExpression): SimpleExpression | undefined {
  const operand = compile(argument);
  if (operand === undefined || !isUnaryOperator(operator)) return undefined;
  return (scope) => {
    scope.spend(1);
    return unary(operator, operand(scope));
  };
}

function compileBinary({ left, operator, right }: BinaryExpression): SimpleExpression | undefined {
  if (left.type === 'PrivateIdentifier') return undefined;
  const [first, second] = [compile(left), compile(right)];
  if (first === undefined || second === undefined) return undefined;
  if (operator === 'in') return (scope) => isIn(first(scope), second(scope));
  if (!isBinaryOperator(operator)) return undefined;
  return (scope) => {
    const [one, other] = [first(scope), second(scope)];
    scope.spend(1);
    if (typeof one === 'string') scope.spend(one.length / CHARACTERS_PER_STEP);
    if (typeof other === 'string') scope.spend(other.length / CHARACTERS_PER_STEP);
    return binary(operator, one, other);
  };
}

/** Characters that take as long as the evaluation of a node. */
const CHARACTERS_PER_STEP = 100;

function isIn(key: unknown, object: unknown): boolean {
  if ((typeof key !== 'string' && typeof key !== 'number') || typeof object !== 'object' || object === null) {
    throw NOT_SIMPLE;
  }
  if (Object.hasOwn(object, key)) return true;
  return hasInherited(object, String(key)) ? notSimple() : false;
}

function compileList(elements: readonly unknown[]): SimpleExpression | undefined {
  const items: SimpleExpression[] = [];
  for (const element of elements) {
    const node = element as Expression | { type: 'SpreadElement' } | null;
    const item = node === null || node.type === 'SpreadElement' ? undefined : compile(node);
    if (item === undefined) return undefined;
    items.push(item);
  }
  return (scope) => {
    scope.spend(items.length);
    return items.map((item) => item(scope));
  };
}

function compileCall({ callee, arguments: args, optional }: CallExpression): SimpleExpression | undefined {
  const [argument, ...others] = args;
  if (optional === true || others.length > 0 || argument === undefined || argument.type === 'SpreadElement') {
    return undefined;
  }
  const given = compile(argument);
  if (given === undefined) return undefined;
  if (callee.type === 'Identifier') {
    const { name } = callee;
    return isTimeFunction(name) ? (scope) => callTimeFunction(name, given(scope), scope.nowMs) : undefined;
  }
  if (callee.type !== 'MemberExpression' || callee.computed || callee.optional === true) return undefined;
  const { object, property } = callee;
  if (property.type !== 'Identifier' || !isMethod(property.name) || object.type === 'Super') return undefined;
  const receiver = compile(object);
  const { name } = property;
  return receiver && ((scope) => callMethod(name, receiver(scope), given(scope), scope));
}
