/** A line of the StatsD protocol. */
export interface StatsdLine {
  /** Of letters, digits, dots, dashes and underscores. */
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'timer' | 'set';
  /** Any text for a set, a number otherwise. */
  readonly text: string;
  /** The value; NaN for a set. */
  readonly value: number;
  /** The part of the occurrences that were sent, above 0. */
  readonly rate: number;
  /** `name:value` or `name`, as sent, sorted. */
  readonly tags: readonly string[];
}

const LINE = /^([^:]*):([^|]*)\|([^|]*)(?:\|@([^|#]*))?(?:\|#(.*))?$/;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const TYPES: Readonly<Record<string, StatsdLine['type']>> = {
  c: 'counter',
  g: 'gauge',
  ms: 'timer',
  h: 'timer',
  s: 'set',
};

/** Parses a line. Returns undefined for one that is not valid. Takes linear time. Source: spec/03 8.3. */
export function parseStatsdLine(line: string): StatsdLine | undefined {
  const [, rawName, text = '', typeName = '', rateText, tagText] = LINE.exec(line) ?? [];
  if (rawName === undefined) return undefined;
  const name = cleanName(rawName);
  const type = Object.hasOwn(TYPES, typeName) ? TYPES[typeName] : undefined;
  if (name === '' || type === undefined || text === '') return undefined;
  const rate = rateText === undefined ? 1 : numberOf(rateText);
  const value = type === 'set' ? NaN : numberOf(text);
  if (!(rate > 0) || (type !== 'set' && Number.isNaN(value))) return undefined;
  const tags = (tagText ?? '').split(',').filter((tag) => tag !== '');
  return { name, type, text, value, rate, tags: tags.toSorted() };
}

/** NaN for a text that is not a finite number. */
function numberOf(text: string): number {
  const value = NUMBER.test(text) ? Number(text) : NaN;
  return Number.isFinite(value) ? value : NaN;
}

const cleanName = (name: string): string =>
  name
    .replaceAll('/', '-')
    .replaceAll(/[ \t]/g, '_')
    .replaceAll(/[^A-Za-z0-9._-]/g, '');
