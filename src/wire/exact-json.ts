interface Point {
  timestamp?: unknown;
}

type MaybePoint = Point | null | undefined;
type Parse = (text: string) => unknown;

/**
 * A `timestamp` member with its value. Quotation marks inside strings are escaped, so the pattern matches outside of
 * strings only. More than 19 digits exceed 64 bits.
 */
const LONG_TIMESTAMP = /(?<!\\)("timestamp"\s*:\s*)(-?\d{16,19})(?=\s*[,}])/gi;

/**
 * Parses the JSON of an event but keeps the exact timestamps of metric points: some sources send nanoseconds, which
 * exceed the precision of a number.
 * @throws SyntaxError
 */
export const parseEventJson = (text: string, parse: Parse = JSON.parse): unknown =>
  parseExactly(text, parse, (event) =>
    listOf((event as { metrics?: { points?: unknown } | null } | null)?.metrics?.points),
  );

/** Parses a list of metric points in the same way. @throws SyntaxError */
export const parsePointsJson = (text: string, parse: Parse = JSON.parse): unknown => parseExactly(text, parse, listOf);

function parseExactly(text: string, parse: Parse, pointsOf: (value: unknown) => MaybePoint[]): unknown {
  const value = parse(text);
  const points = pointsOf(value);
  if (points.some(isRounded)) {
    const quoted = pointsOf(parse(text.replaceAll(LONG_TIMESTAMP, '$1"$2"')));
    for (const [index, point] of points.entries()) {
      const digits = quoted[index]?.timestamp;
      if (isRounded(point) && typeof digits === 'string') point.timestamp = BigInt(digits);
    }
  }
  return value;
}

const listOf = (value: unknown): MaybePoint[] => (Array.isArray(value) ? (value as MaybePoint[]) : []);

const isRounded = (point: MaybePoint): point is Point =>
  Number.isInteger(point?.timestamp) && !Number.isSafeInteger(point?.timestamp);

/** Like `JSON.stringify`, but supports `bigint`. */
export function stringifyExactly(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    // JSON.stringify throws a TypeError for a bigint. They are too rare to search each value for them first.
    if (!(error instanceof TypeError)) throw error;
    return stringify(value) ?? 'null';
  }
}

function stringify(value: unknown): string | undefined {
  if (typeof value === 'bigint') return value.toString();
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => stringify(item) ?? 'null').join(',')}]`;
  let members = '';
  for (const [name, member] of Object.entries(value)) {
    const text = stringify(member);
    if (text !== undefined) members += `${members === '' ? '' : ','}${JSON.stringify(name)}:${text}`;
  }
  return `{${members}}`;
}
