import type { CallExpression, Expression, MemberExpression, NewExpression, Node, Pattern, Property } from 'acorn';
import { parseProgram } from '../resources/expressions.ts';
import {
  IMPURE_MEMBERS,
  NUMERIC_OPERATORS,
  PURE_CONSTRUCTORS,
  PURE_FUNCTIONS,
  PURE_METHODS,
  PURE_STATIC,
} from './pure-names.ts';
import { withJavaScriptPatterns } from './re2-literals.ts';

/** An expression that leaves nothing behind in the context in which it is evaluated. */
export interface PureExpression {
  /** The text of the expression, with patterns of JavaScript. */
  source: string;
  /**
   * The members of the event that it reads, such as `check.status` or `timestamp`; undefined if it may read all of them.
   */
  members: ReadonlySet<string> | undefined;
}

/**
 * Returns the expression of a program that consists of one expression without effects: it assigns nothing, and calls
 * only functions that are known not to change their receiver or a built-in object. Returns undefined otherwise.
 */
export function pureExpression(program: string): PureExpression | undefined {
  const statements = parseProgram(program)?.body;
  const [statement] = statements ?? [];
  if (statements?.length !== 1 || statement?.type !== 'ExpressionStatement') return undefined;
  const { expression } = statement;
  const purity = new Purity();
  if (!purity.isPure(expression, new Set(['event', 'undefined', 'NaN', 'Infinity']))) return undefined;
  const source = withJavaScriptPatterns(program.slice(expression.start, expression.end));
  return { source, members: purity.members };
}

type Names = ReadonlySet<string>;

class Purity {
  #members: Set<string> | undefined = new Set();

  get members(): ReadonlySet<string> | undefined {
    return this.#members;
  }

  isPure(node: Node | null, names: Names): boolean {
    if (node === null) return false;
    const expression = node as Expression;
    const { type } = expression;
    if (type === 'Literal') return true;
    if (type === 'Identifier') return this.#isPureName(expression.name, names);
    if (type === 'MemberExpression') return this.#isPureMember(expression, names);
    if (type === 'CallExpression') return this.#isPureCall(expression, names);
    if (type === 'NewExpression') return this.#isPureNew(expression, names);
    if (type === 'ObjectExpression') {
      return expression.properties.every((one) => one.type === 'Property' && this.#isPureProperty(one, names));
    }
    if (type === 'ArrowFunctionExpression' || type === 'FunctionExpression') {
      return !expression.async && !expression.generator && this.#isPureFunction(expression, names);
    }
    const operands = operandsOf(expression);
    return operands !== undefined && this.#arePure(operands, names);
  }

  #isPureName(name: string, names: Names): boolean {
    if (name === 'event') this.#members = undefined;
    return names.has(name);
  }

  #isPureNew({ callee, arguments: args }: NewExpression, names: Names): boolean {
    return callee.type === 'Identifier' && PURE_CONSTRUCTORS.has(callee.name) && this.#arePure(args, names);
  }

  #arePure(nodes: readonly (Node | null)[], names: Names): boolean {
    return nodes.every((node) => this.isPure(node, names));
  }

  #isPureProperty({ kind, computed, method, shorthand, key, value }: Property, names: Names): boolean {
    const name = key.type === 'Identifier' ? key.name : key.type === 'Literal' ? String(key.value) : '__proto__';
    const isPlain = kind === 'init' && !computed && !method && !shorthand && !IMPURE_MEMBERS.has(name);
    return isPlain && this.isPure(value, names);
  }

  #isPureFunction(node: { id?: Node | null; params: Pattern[]; body: Node }, names: Names): boolean {
    const inner = new Set(names);
    for (const parameter of node.params) {
      if (parameter.type !== 'Identifier' || parameter.name === 'event') return false;
      inner.add(parameter.name);
    }
    if (node.id) return false;
    const { body } = node;
    if (body.type !== 'BlockStatement') return this.isPure(body, inner);
    const [only, ...others] = (body as Node & { body: Node[] }).body;
    if (only?.type !== 'ReturnStatement' || others.length > 0) return false;
    const { argument } = only as Node & { argument: Expression | null };
    return argument === null || this.isPure(argument, inner);
  }

  #isPureMember({ object, property, computed }: MemberExpression, names: Names): boolean {
    if (property.type === 'PrivateIdentifier') return false;
    if (!computed) {
      if (property.type !== 'Identifier' || IMPURE_MEMBERS.has(property.name)) return false;
      return this.#isPureOwner(object, property.name, names);
    }
    if (property.type === 'Literal') {
      const name = String(property.value);
      return !IMPURE_MEMBERS.has(name) && this.#isPureOwner(object, name, names);
    }
    const isIndex =
      (property.type === 'BinaryExpression' && NUMERIC_OPERATORS.has(property.operator)) ||
      (property.type === 'UnaryExpression' && (property.operator === '-' || property.operator === '+'));
    return isIndex && this.isPure(property, names) && this.isPure(object, names);
  }

  /** Notes which members of the event are read. */
  #isPureOwner(object: Node, name: string, names: Names): boolean {
    if (isEvent(object)) {
      this.#members?.add(name);
      return true;
    }
    const owner = object as Expression;
    if (owner.type === 'MemberExpression' && !owner.computed && isEvent(owner.object) && owner.optional !== true) {
      const { property } = owner;
      if (property.type !== 'Identifier' || IMPURE_MEMBERS.has(property.name)) return false;
      this.#members?.add(`${property.name}.${name}`);
      return true;
    }
    return this.isPure(object, names);
  }

  #isPureCall({ callee, arguments: args }: CallExpression, names: Names): boolean {
    if (!this.#arePure(args, names)) return false;
    if (callee.type === 'Identifier') return PURE_FUNCTIONS.has(callee.name);
    if (callee.type !== 'MemberExpression' || callee.computed || callee.property.type !== 'Identifier') return false;
    const { object, property } = callee;
    if (object.type === 'Identifier' && PURE_STATIC.has(object.name)) {
      return PURE_STATIC.get(object.name)?.has(property.name) === true;
    }
    // The receiver is read as a whole.
    return PURE_METHODS.has(property.name) && this.isPure(object, names);
  }
}

/** The operands of an expression that does nothing but combine their values. */
function operandsOf(expression: Expression): readonly (Node | null)[] | undefined {
  const { type } = expression;
  if (type === 'UnaryExpression') return expression.operator === 'delete' ? undefined : [expression.argument];
  if (type === 'BinaryExpression' || type === 'LogicalExpression') return [expression.left, expression.right];
  if (type === 'ConditionalExpression') return [expression.test, expression.consequent, expression.alternate];
  if (type === 'SequenceExpression' || type === 'TemplateLiteral') return expression.expressions;
  if (type === 'ArrayExpression') return expression.elements;
  return type === 'ChainExpression' || type === 'ParenthesizedExpression' ? [expression.expression] : undefined;
}

const isEvent = (node: Node): boolean =>
  node.type === 'Identifier' && (node as Node & { name: string }).name === 'event';
