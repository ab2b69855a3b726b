import type { Budget } from './budget.ts';
import { FunctionError } from './template-error.ts';
import { GoNumber, isList, type Value, valueOf } from './values.ts';

/** The maximum depth of lists and maps that are printed. */
const MAX_DEPTH = 100;
/** A float is printed without an exponent from the first power of ten to below the second. */
const MIN_EXPONENT = -4;
const MAX_EXPONENT = 6;

/** Formats the value of an action whose pipeline declares no variable. */
export const printed = (value: Value, budget: Budget): string =>
  value === undefined || value === null ? '<no value>' : formatted(value, budget);

/** Formats a value like `%v`: `[a b]`, `map[k:v]`. @throws FunctionError for a value that is nested too deeply */
export function formatted(value: Value, budget: Budget): string {
  return formatWith(value, budget, (item) => scalar(item));
}

/** Formats a value with `one`; lists and maps item by item. Counts the bytes in the budget. */
export function formatWith(value: Value, budget: Budget, one: (item: Value) => string, depth = 0): string {
  budget.step();
  if (typeof value !== 'object' || value === null || value instanceof GoNumber) {
    const text = one(value);
    budget.text(text.length);
    return text;
  }
  if (depth >= MAX_DEPTH) throw new FunctionError(`value with more than ${MAX_DEPTH} levels`);
  const inner = (item: unknown): string => formatWith(valueOf(item), budget, one, depth + 1);
  const text = isList(value)
    ? `[${value.map(inner).join(' ')}]`
    : `map[${sortedKeys(value, budget)
        .map((key) => `${one(key)}:${inner(value[key])}`)
        .join(' ')}]`;
  budget.text(text.length);
  return text;
}

/** Returns the keys of a map in the order in which Go prints and iterates. */
export function sortedKeys(map: Readonly<Record<string, unknown>>, budget: Budget): string[] {
  const keys = Object.keys(map);
  budget.step(keys.length);
  return keys.toSorted((one, other) => (one < other ? -1 : 1));
}

function scalar(value: Value): string {
  if (value === undefined || value === null) return '<nil>';
  if (value instanceof GoNumber) return typeof value.value === 'bigint' ? String(value.value) : shortest(value.value);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Formats a float with as few digits as identify it, and an exponent of at least two digits where Go writes one. */
export function shortest(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [mantissa = '', power = '0'] = value.toExponential().split('e');
  const exponent = Number(power);
  return exponent >= MIN_EXPONENT && exponent < MAX_EXPONENT ? String(value) : withExponent(mantissa, exponent);
}

/** Writes an exponent with a sign and at least two digits. */
export const withExponent = (mantissa: string, exponent: number): string =>
  `${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
