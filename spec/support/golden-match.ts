import { inspect } from 'node:util';

interface Matcher {
  /** Regular expression for the matcher inside a longer text. */
  pattern: string;
  accepts(value: unknown): boolean;
}

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const isText = (value: unknown): boolean => typeof value === 'string';

/** `<unix>` also accepts 0: an event that the API received without a timestamp is stored with 0. */
const MATCHERS: Readonly<Record<string, Matcher>> = {
  uuid: { pattern: UUID, accepts: (value) => isText(value) && new RegExp(`^${UUID}$`).test(String(value)) },
  unix: { pattern: '\\d+', accepts: (value) => Number.isInteger(value) && Number(value) >= 0 },
  int: { pattern: '-?\\d+', accepts: Number.isInteger },
  number: { pattern: '-?\\d+(?:\\.\\d+)?(?:e[+-]?\\d+)?', accepts: Number.isFinite },
  string: { pattern: '[^]*', accepts: isText },
  etag: { pattern: '"[0-9a-f]+"', accepts: isText },
  token: { pattern: '[\\w.-]+', accepts: isText },
  hex: { pattern: '[0-9a-f]+', accepts: (value) => /^[0-9a-f]+$/.test(String(value)) },
  any: { pattern: '[^]*', accepts: () => true },
};

const MATCHER = /<(uuid|unix|int|number|string|etag|token|hex|any)>/;
const MATCHERS_INSIDE = new RegExp(MATCHER.source, 'g');

/**
 * Returns the first difference between `actual` and what a golden file expects, or undefined if there is none. Only the listed members
 * of an object are compared, `null` means absent or null, and lists are compared completely.
 */
export function difference(expected: unknown, actual: unknown, where = 'answer'): string | undefined {
  if (typeof expected === 'string') return textDifference(expected, actual, where);
  if (Array.isArray(expected)) return listDifference(expected, actual, where);
  if (expected !== null && typeof expected === 'object') return objectDifference(expected, actual, where);
  return (expected ?? undefined) === (actual ?? undefined) ? undefined : mismatch(expected, actual, where);
}

function textDifference(expected: string, actual: unknown, where: string): string | undefined {
  const whole = MATCHER.exec(expected);
  if (whole !== null && whole[0] === expected) {
    return MATCHERS[whole[1] ?? '']?.accepts(actual) ? undefined : mismatch(expected, actual, where);
  }
  const fits = whole === null ? expected === actual : isText(actual) && patternOf(expected).test(String(actual));
  return fits ? undefined : mismatch(expected, actual, where);
}

function patternOf(expected: string): RegExp {
  const source = expected
    .split(MATCHERS_INSIDE)
    .map((part, index) => (index % 2 === 0 ? literal(part) : MATCHERS[part]?.pattern));
  return new RegExp(`^${source.join('')}$`);
}

const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

function listDifference(expected: readonly unknown[], actual: unknown, where: string): string | undefined {
  if (!Array.isArray(actual) || actual.length !== expected.length) return mismatch(expected, actual, where);
  for (const [index, item] of expected.entries()) {
    const found = difference(item, actual[index], `${where}[${index}]`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function objectDifference(expected: object, actual: unknown, where: string): string | undefined {
  if (actual === null || typeof actual !== 'object' || Array.isArray(actual)) return mismatch(expected, actual, where);
  for (const [name, member] of Object.entries(expected)) {
    const found = difference(member, (actual as Record<string, unknown>)[name], `${where}.${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Like `difference`, but an absent member, a null member and an additional member are differences. */
export function exactDifference(expected: unknown, actual: unknown, where = 'answer'): string | undefined {
  return difference(expected, actual, where) ?? memberDifference(expected, actual, where);
}

/** Compares the member names of two values that `difference` accepts. */
function memberDifference(expected: unknown, actual: unknown, where: string): string | undefined {
  if (expected === null || typeof expected !== 'object') return undefined;
  const [wanted, got] = [Object.keys(expected).sort(), Object.keys(actual as object).sort()];
  if (wanted.join() !== got.join()) return `${where}: expected members ${wanted.join()}, got ${got.join()}`;
  for (const [name, value] of Object.entries(expected)) {
    const found = memberDifference(value, (actual as Record<string, unknown>)[name], `${where}.${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

const mismatch = (expected: unknown, actual: unknown, where: string): string =>
  `${where}: expected ${show(expected)}, got ${show(actual)}`;

const show = (value: unknown): string => inspect(value, { depth: 8, breakLength: Infinity, maxStringLength: 500 });
