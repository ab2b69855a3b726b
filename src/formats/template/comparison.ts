import type { Budget } from './budget.ts';
import { FunctionError } from './template-error.ts';
import { GoNumber, typeOf, type Value } from './values.ts';

type Basic = 'bool' | 'string' | 'int' | 'uint' | 'float';

/** Returns whether the first value equals one of the others. @throws FunctionError when they cannot be compared */
export function equalsOne(one: Value, others: readonly Value[], budget: Budget): boolean {
  if (others.length === 0) throw new FunctionError('missing argument for comparison');
  return others.some((other) => equals(one, other, budget));
}

export function equals(one: Value, other: Value, budget: Budget): boolean {
  const [kind, otherKind] = [basicKind(one), basicKind(other)];
  if (isMissing(one) || isMissing(other)) return isMissing(one) && isMissing(other);
  if (kind === undefined && otherKind === undefined) throw notComparable(one, other);
  if (kind !== otherKind && !(isInteger(kind) && isInteger(otherKind))) throw incompatible(one, other);
  return order(one, other, budget) === 0;
}

/** Returns whether the first value is less than the second. @throws FunctionError when they cannot be ordered */
export function isLess(one: Value, other: Value, budget: Budget): boolean {
  const [kind, otherKind] = [basicKind(one), basicKind(other)];
  if (kind === undefined || otherKind === undefined) throw new FunctionError('invalid type for comparison');
  if (kind !== otherKind && !(isInteger(kind) && isInteger(otherKind))) throw incompatible(one, other);
  if (kind === 'bool') throw new FunctionError('invalid type for comparison');
  return order(one, other, budget) < 0;
}

/** Compares two values of the same kind. */
function order(one: Value, other: Value, budget: Budget): number {
  if (one instanceof GoNumber && other instanceof GoNumber) return compare(one.value, other.value);
  if (typeof one === 'string' && typeof other === 'string') {
    budget.text(Math.min(one.length, other.length));
    return compare(one, other);
  }
  return compare(Number(one), Number(other));
}

const compare = <T extends bigint | number | string>(one: T, other: T): number =>
  one < other ? -1 : one === other ? 0 : 1;

const isMissing = (value: Value): boolean => value === undefined || value === null;
const isInteger = (kind: Basic | undefined): boolean => kind === 'int' || kind === 'uint';

function basicKind(value: Value): Basic | undefined {
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'string';
  if (!(value instanceof GoNumber)) return undefined;
  if (value.type === 'float64') return 'float';
  return value.type === 'uint8' ? 'uint' : 'int';
}

const incompatible = (one: Value, other: Value): FunctionError =>
  new FunctionError(`incompatible types for comparison: ${typeOf(one)} and ${typeOf(other)}`);

const notComparable = (one: Value, other: Value): FunctionError =>
  new FunctionError(`non-comparable types: ${typeOf(one)} and ${typeOf(other)}`);
