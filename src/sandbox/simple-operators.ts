import { NOT_SIMPLE } from './not-simple.ts';

type Primitive = string | number | boolean | null | undefined;

/** A longer text is left to the engine. */
const MAX_TEXT = 65_536;

/** The operators whose result is the same in every engine. The last bits of `**` are not. */
const BINARY = {
  // oxlint-disable-next-line eqeqeq -- it is what the expression says
  '==': (a: Primitive, b: Primitive) => a == b,
  // oxlint-disable-next-line eqeqeq -- it is what the expression says
  '!=': (a: Primitive, b: Primitive) => a != b,
  '===': (a: Primitive, b: Primitive) => a === b,
  '!==': (a: Primitive, b: Primitive) => a !== b,
  '<': (a: Primitive, b: Primitive) => (a as number) < (b as number),
  '<=': (a: Primitive, b: Primitive) => (a as number) <= (b as number),
  '>': (a: Primitive, b: Primitive) => (a as number) > (b as number),
  '>=': (a: Primitive, b: Primitive) => (a as number) >= (b as number),
  '+': (a: Primitive, b: Primitive) => (a as number) + (b as number),
  '-': (a: Primitive, b: Primitive) => (a as number) - (b as number),
  '*': (a: Primitive, b: Primitive) => (a as number) * (b as number),
  '/': (a: Primitive, b: Primitive) => (a as number) / (b as number),
  '%': (a: Primitive, b: Primitive) => (a as number) % (b as number),
  '&': (a: Primitive, b: Primitive) => (a as number) & (b as number),
  '|': (a: Primitive, b: Primitive) => (a as number) | (b as number),
  '^': (a: Primitive, b: Primitive) => (a as number) ^ (b as number),
  '<<': (a: Primitive, b: Primitive) => (a as number) << (b as number),
  '>>': (a: Primitive, b: Primitive) => (a as number) >> (b as number),
  '>>>': (a: Primitive, b: Primitive) => (a as number) >>> (b as number),
} as const;

const EQUALITY = new Set<string>(['==', '!=', '===', '!==']);

const UNARY = {
  '!': (value: unknown) => !value,
  typeof: (value: unknown) => typeof value,
  void: () => undefined,
  '-': (value: unknown) => -(primitive(value) as number),
  '+': (value: unknown) => Number(primitive(value)),
  '~': (value: unknown) => ~(primitive(value) as number),
} as const;

export type BinaryOperator = keyof typeof BINARY;
export type UnaryOperator = keyof typeof UNARY;

export const isBinaryOperator = (operator: string): operator is BinaryOperator => Object.hasOwn(BINARY, operator);
export const isUnaryOperator = (operator: string): operator is UnaryOperator => Object.hasOwn(UNARY, operator);

export const unary = (operator: UnaryOperator, value: unknown): unknown => UNARY[operator](value);

/** Applies an operator. @throws NOT_SIMPLE for objects, which the engine converts or compares, and for long results */
export function binary(operator: BinaryOperator, one: unknown, other: unknown): unknown {
  if (EQUALITY.has(operator) && (isObject(one) ? isNullish(other) : isObject(other) && isNullish(one))) {
    return operator.startsWith('!');
  }
  const result: unknown = BINARY[operator](primitive(one), primitive(other));
  if (typeof result === 'string' && result.length > MAX_TEXT) throw NOT_SIMPLE;
  return result;
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;
const isNullish = (value: unknown): boolean => value === undefined || value === null;

function primitive(value: unknown): Primitive {
  if (isObject(value)) throw NOT_SIMPLE;
  return value as Primitive;
}
