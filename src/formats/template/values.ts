/** A number with its type in Go. Integers of the data are `int64`, those of a template `int`. */
export class GoNumber {
  readonly type: 'int' | 'int64' | 'uint8' | 'float64';
  readonly value: bigint | number;

  constructor(type: GoNumber['type'], value: bigint | number) {
    this.type = type;
    this.value = value;
  }
}

/** A value of a template: undefined for a missing one, otherwise JSON with `GoNumber` in place of its numbers. */
export type Value =
  undefined | null | boolean | string | GoNumber | readonly unknown[] | { readonly [key: string]: unknown };

/** Converts a member of the data, or the result of a function. */
export function valueOf(raw: unknown): Value {
  if (typeof raw === 'number') {
    return Number.isSafeInteger(raw) ? new GoNumber('int64', BigInt(raw)) : new GoNumber('float64', raw);
  }
  if (typeof raw === 'bigint') return new GoNumber('int', raw);
  return raw as Value;
}

export const isList = (value: Value): value is readonly unknown[] => Array.isArray(value);

export const isMap = (value: Value): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof GoNumber);

/** Returns the value of a key; undefined when the map does not have it. */
export const memberOf = (map: Readonly<Record<string, unknown>>, key: string): Value =>
  Object.hasOwn(map, key) ? valueOf(map[key] ?? null) : undefined;

/** Returns the name of the type in Go. */
export function typeOf(value: Value): string {
  if (value === undefined || value === null) return '<nil>';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'string';
  if (value instanceof GoNumber) return value.type;
  return isList(value) ? '[]interface {}' : 'map[string]interface {}';
}

/** Returns whether the value counts as true in `if`, `and`, `or` and `not`. */
export function isTrue(value: Value): boolean {
  if (value === undefined || value === null) return false;
  if (typeof value === 'boolean') return value;
  if (value instanceof GoNumber) return Number(value.value) !== 0;
  if (typeof value === 'string' || isList(value)) return value.length > 0;
  return Object.keys(value).length > 0;
}
