import type { Budget } from './budget.ts';
import { FunctionError } from './template-error.ts';
import { GoNumber, isList, isMap, memberOf, typeOf, type Value, valueOf } from './values.ts';

/** Returns the length of a text in bytes, or of a list or map in items. @throws FunctionError */
export function lengthOf(value: Value, budget: Budget): bigint {
  if (typeof value === 'string') {
    budget.text(value.length);
    return BigInt(Buffer.byteLength(value));
  }
  if (isList(value)) return BigInt(value.length);
  if (isMap(value)) return BigInt(Object.keys(value).length);
  throw new FunctionError(isMissing(value) ? 'len of nil pointer' : `len of type ${typeOf(value)}`);
}

/** Returns the item of a list, the value of a map or the byte of a text at each index in turn. @throws FunctionError */
export function itemAt(from: Value, indexes: readonly Value[], budget: Budget): Value {
  if (isMissing(from)) throw new FunctionError('index of untyped nil');
  return indexes.reduce((value, index) => oneItem(value, index, budget), from);
}

function oneItem(from: Value, index: Value, budget: Budget): Value {
  budget.step();
  if (isMissing(from)) throw new FunctionError('index of nil pointer');
  if (isList(from)) return valueOf(from[position(index, from.length - 1)]);
  if (typeof from === 'string') {
    const bytes = bytesOf(from, budget);
    return new GoNumber('uint8', BigInt(bytes[position(index, bytes.length - 1)] ?? 0));
  }
  if (!isMap(from)) throw new FunctionError(`can't index item of type ${typeOf(from)}`);
  if (isMissing(index)) throw new FunctionError('value is nil; should be of type string');
  if (typeof index !== 'string') throw new FunctionError(`value has type ${typeOf(index)}; should be string`);
  return memberOf(from, index) ?? null;
}

/** Returns a part of a list, or of the bytes of a text. @throws FunctionError */
export function slice(from: Value, indexes: readonly Value[], budget: Budget): Value {
  if (isMissing(from)) throw new FunctionError('slice of untyped nil');
  if (indexes.length > 3) throw new FunctionError(`too many slice indexes: ${indexes.length}`);
  if (!isList(from) && typeof from !== 'string') throw new FunctionError(`can't slice item of type ${typeOf(from)}`);
  if (typeof from === 'string' && indexes.length === 3) throw new FunctionError('cannot 3-index slice a string');
  const items = typeof from === 'string' ? bytesOf(from, budget) : from;
  const [begin = 0, end = items.length, capacity = end] = indexes.map((index) => position(index, items.length));
  if (begin > end) throw new FunctionError(`invalid slice index: ${begin} > ${end}`);
  if (end > capacity) throw new FunctionError(`invalid slice index: ${end} > ${capacity}`);
  if (items instanceof Uint8Array) return new TextDecoder().decode(items.subarray(begin, end));
  budget.step(end - begin);
  return items.slice(begin, end);
}

/** Returns an index as a number from 0 to `max`. @throws FunctionError */
function position(index: Value, max: number): number {
  if (isMissing(index)) throw new FunctionError('cannot index slice/array with nil');
  if (!(index instanceof GoNumber) || typeof index.value !== 'bigint') {
    throw new FunctionError(`cannot index slice/array with type ${typeOf(index)}`);
  }
  if (index.value < 0n || index.value > BigInt(max)) throw new FunctionError(`index out of range: ${index.value}`);
  return Number(index.value);
}

function bytesOf(text: string, budget: Budget): Uint8Array {
  budget.text(text.length);
  return new TextEncoder().encode(text);
}

const isMissing = (value: Value): value is null | undefined => value === undefined || value === null;
