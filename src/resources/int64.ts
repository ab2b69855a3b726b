/** An exact 64-bit integer: a `bigint` only where a number would not be exact. */
export type Int64 = number | bigint;

/** The keyword of 64-bit integers in a schema, for which JSON Schema has no type. */
export const EXACT_INT64 = 'exactInt64';

/** The largest number below 2^63. */
export const LARGEST_INT64_NUMBER = 2 ** 63 - 1_024;

/** Normalises a value: a missing value and negative zero become 0. */
export function int64Of(value: Int64 | null | undefined): Int64 {
  const near = Number(value ?? 0);
  return Number.isSafeInteger(near) ? near || 0 : BigInt(value ?? 0);
}

export function isInt64(value: unknown): value is Int64 {
  if (Number.isSafeInteger(value)) return true;
  if (typeof value !== 'bigint' && !Number.isInteger(value)) return false;
  const whole = BigInt(value as Int64);
  return BigInt.asIntN(64, whole) === whole;
}
