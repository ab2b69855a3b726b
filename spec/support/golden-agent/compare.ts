import { difference } from '../golden-match.ts';

/** The error of numbers. */
const TOLERANCE = 1e-9;

const isZero = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === 0 ||
  value === '' ||
  value === false ||
  (typeof value === 'object' && Object.keys(value).length === 0);

const shown = (value: unknown): string => JSON.stringify(value)?.slice(0, 600) ?? 'nothing';

const NAMES: readonly [RegExp, string][] = [
  [/sensu-agent/g, 'mon-agent'],
  [/sensu backend/g, 'mon backend'],
];
const NAMED_MEMBERS = new Set(['error', 'msg', 'text', 'stdout']);

/** Replaces the names of the reference in texts that people read. */
export function inOurNames(expected: unknown, member = ''): unknown {
  if (typeof expected === 'string') {
    return NAMED_MEMBERS.has(member)
      ? NAMES.reduce((text, [name, ours]) => text.replace(name, ours), expected)
      : expected;
  }
  if (Array.isArray(expected)) return expected.map((item: unknown) => inOurNames(item, member));
  if (expected === null || typeof expected !== 'object') return expected;
  return Object.fromEntries(Object.entries(expected).map(([name, value]) => [name, inOurNames(value, name)]));
}

/**
 * Describes the first difference by the rules of the recordings of the agent: more members are allowed, zero fits absence, points
 * and the list named `unordered` are in any order. Undefined without a difference.
 */
export function agentDifference(
  expected: unknown,
  actual: unknown,
  unordered = 'points',
  where = 'it',
): string | undefined {
  if (isZero(expected) && isZero(actual)) return undefined;
  const mismatch = `${where}: expected ${shown(expected)}, got ${shown(actual)}`;
  if (typeof expected === 'string') {
    const text = expected.replaceAll('<unix_ns>', '<int>');
    if (expected === '<unix_ns>') return typeof actual === 'number' && actual > 1e18 ? undefined : mismatch;
    return difference(text, actual, where);
  }
  if (typeof expected === 'number') {
    const isNear =
      typeof actual === 'number' && Math.abs(actual - expected) <= TOLERANCE * Math.max(1, Math.abs(expected));
    return isNear ? undefined : mismatch;
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length) return mismatch;
    const member = where.split('.').at(-1) ?? '';
    return member === 'points' || member === unordered
      ? anyOrder(expected, actual, unordered, mismatch)
      : first(expected.map((item, index) => agentDifference(item, actual[index], unordered, `${where}.${index}`)));
  }
  if (expected === null || typeof expected !== 'object') return expected === actual ? undefined : mismatch;
  if (isZero(actual)) return mismatch;
  if (typeof actual !== 'object' || Array.isArray(actual)) return mismatch;
  return first(
    Object.entries(expected).map(([name, member]) =>
      agentDifference(member, (actual as Record<string, unknown>)[name], unordered, `${where}.${name}`),
    ),
  );
}

const first = (found: (string | undefined)[]): string | undefined => found.find((each) => each !== undefined);

function anyOrder(expected: unknown[], actual: unknown[], unordered: string, mismatch: string): string | undefined {
  const left = [...actual];
  for (const item of expected) {
    const index = left.findIndex((candidate) => agentDifference(item, candidate, unordered) === undefined);
    if (index < 0) return `${mismatch}; missing ${shown(item)}`;
    left.splice(index, 1);
  }
  return undefined;
}
