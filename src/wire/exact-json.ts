interface Point {
  timestamp?: unknown;
}

type MaybePoint = Point | null | undefined;
type Parse = (text: string) => unknown;

/**
 * A key and its value. A quotation mark in a text stands behind a backslash, so this is nowhere but outside of texts; more
 * than 19 digits are beyond 64 bits.
 */
const LONG_TIMESTAMP = /(?<!\\)("timestamp"\s*:\s*)(-?\d{16,19})(?=\s*[,}])/gi;

/**
 * An event of JSON, as `parse` gives it, but with the timestamps of its metric points to the digit: some sources count
 * nanoseconds, which are more than a number holds. @throws SyntaxError
 */
export const parseEventJson = (text: string, parse: Parse = JSON.parse): unknown =>
  parseExactly(text, parse, (event) =>
    listOf((event as { metrics?: { points?: unknown } | null } | null)?.metrics?.points),
  );

/** The same of a list of metric points. @throws SyntaxError */
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

/** `JSON.stringify`, but a `bigint` is written in its digits. */
export function stringifyExactly(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    // What it throws at a bigint, which is too rare to be looked for in every value.
    if (!(error instanceof TypeError)) throw error;
    return written(value) ?? 'null';
  }
}

function written(value: unknown): string | undefined {
  if (typeof value === 'bigint') return value.toString();
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => written(item) ?? 'null').join(',')}]`;
  let members = '';
  for (const [name, member] of Object.entries(value)) {
    const text = written(member);
    if (text !== undefined) members += `${members === '' ? '' : ','}${JSON.stringify(name)}:${text}`;
  }
  return `{${members}}`;
}
