import { inspect } from 'node:util';

type Values = ReadonlyMap<string, unknown>;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const MATCHERS: Readonly<Record<string, (value: unknown) => boolean>> = {
  uuid: (value) => typeof value === 'string' && UUID.test(value),
  unix: (value) => Number.isInteger(value) && Number(value) > 0,
  int: Number.isInteger,
  number: Number.isFinite,
  string: (value) => typeof value === 'string',
  any: () => true,
};

/** The same inside a longer text. */
const PATTERNS: Readonly<Record<string, string>> = {
  uuid: UUID.source.slice(1, -1),
  unix: '\\d+',
  int: '-?\\d+',
  number: '-?[\\d.]+',
  string: '[^]*',
  any: '[^]*',
};

const MATCHER = /<(uuid|unix|int|number|string|any)(?::(\w+))?>/;
const MATCHERS_INSIDE = new RegExp(MATCHER.source, 'g');
/** The only list that stays ordered in an answer without order. */
const ORDERED = 'history';

/** Compares answers with a recording. A label stands for the same value in the whole recording, and two UUID labels for different ones. */
export class LabelledMatch {
  #values: Values = new Map();

  /** Returns the first difference, or undefined. Members that are not recorded are allowed. */
  difference(expected: unknown, actual: unknown, isUnordered = false): string | undefined {
    const values = match(expected, actual, { values: this.#values, isUnordered, where: 'body' });
    if (typeof values === 'string') return values;
    this.#values = values;
    return undefined;
  }
}

interface Place {
  values: Values;
  isUnordered: boolean;
  where: string;
}

/** Returns the values of all labels after the comparison, or the difference. */
function match(expected: unknown, actual: unknown, place: Place): Values | string {
  if (typeof expected === 'string') return matchText(expected, actual, place);
  if (Array.isArray(expected)) return matchList(expected, actual, place);
  if (expected !== null && typeof expected === 'object') return matchObject(expected, actual, place);
  return expected === actual ? place.values : mismatch(expected, actual, place);
}

function matchText(expected: string, actual: unknown, place: Place): Values | string {
  const [whole, type = '', label] = MATCHER.exec(expected) ?? [];
  if (whole === undefined) return expected === actual ? place.values : mismatch(expected, actual, place);
  if (whole !== expected) {
    const parts = expected.split(MATCHERS_INSIDE).map((part, index) => partOf(part, index));
    const pattern = new RegExp(`^${parts.join('')}$`);
    return typeof actual === 'string' && pattern.test(actual) ? place.values : mismatch(expected, actual, place);
  }
  if (MATCHERS[type]?.(actual) !== true) return mismatch(expected, actual, place);
  return label === undefined ? place.values : bind(type, `${type}:${label}`, actual, place);
}

/** Splitting by an expression with two groups gives a text, a matcher and a label in turns. */
function partOf(part: string | undefined, index: number): string {
  if (index % 3 === 0) return (part ?? '').replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  return index % 3 === 1 ? (PATTERNS[part ?? ''] ?? '') : '';
}

function bind(type: string, label: string, actual: unknown, place: Place): Values | string {
  const { values } = place;
  if (values.has(label)) return values.get(label) === actual ? values : mismatch(values.get(label), actual, place);
  const isTaken =
    type === 'uuid' && [...values].some(([other, value]) => other.startsWith('uuid:') && value === actual);
  if (isTaken) return `${place.where}: ${label} has the value of another label, ${String(actual)}`;
  return new Map([...values, [label, actual]]);
}

function matchObject(expected: object, actual: unknown, place: Place): Values | string {
  if (actual === null || typeof actual !== 'object' || Array.isArray(actual)) return mismatch(expected, actual, place);
  let { values } = place;
  for (const [name, member] of Object.entries(expected)) {
    const isUnordered = place.isUnordered && name !== ORDERED;
    const where = `${place.where}.${name}`;
    const found = match(member, (actual as Record<string, unknown>)[name], { values, isUnordered, where });
    if (typeof found === 'string') return found;
    values = found;
  }
  return values;
}

function matchList(expected: readonly unknown[], actual: unknown, place: Place): Values | string {
  if (!Array.isArray(actual) || actual.length !== expected.length) return mismatch(expected, actual, place);
  return place.isUnordered ? matchUnordered(expected, actual, place) : matchOrdered(expected, actual, place);
}

function matchOrdered(expected: readonly unknown[], actual: readonly unknown[], place: Place): Values | string {
  let { values } = place;
  for (const [index, item] of expected.entries()) {
    const found = match(item, actual[index], { ...place, values, where: `${place.where}[${index}]` });
    if (typeof found === 'string') return found;
    values = found;
  }
  return values;
}

/** Assigns each expected item to an actual one, and tries the others when the rest then does not fit. */
function matchUnordered(expected: readonly unknown[], actual: readonly unknown[], place: Place): Values | string {
  const [first, ...rest] = expected;
  if (expected.length === 0) return place.values;
  let difference = mismatch(expected, actual, place);
  for (const [index, item] of actual.entries()) {
    const found = match(first, item, { ...place, where: `${place.where}[${index}]` });
    if (typeof found === 'string') {
      difference = found;
      continue;
    }
    const others = matchUnordered(rest, actual.toSpliced(index, 1), { ...place, values: found });
    if (typeof others !== 'string') return others;
    difference = others;
  }
  return difference;
}

const mismatch = (expected: unknown, actual: unknown, { where }: Place): string =>
  `${where}: expected ${show(expected)}, got ${show(actual)}`;

const show = (value: unknown): string => inspect(value, { depth: 8, breakLength: Infinity, maxStringLength: 500 });
