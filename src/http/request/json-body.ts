import type { IncomingMessage } from 'node:http';
import { InvalidResource, TooLarge } from '../../resources/errors.ts';
import { parseEventJson, parsePointsJson } from '../../wire/exact-json.ts';
import { endOfFirstValue } from '../../wire/json-bounds.ts';
import { clampToInt64 } from './int64-literals.ts';

/** Shorter bodies need no scan: a value that is nested too deep has more bytes. */
const UNBOUNDED_BYTES = 1_000;
/** The parser's messages for a text that ends too early; the API reports it in words of its own. */
const TRUNCATED = /^(?:Unexpected end|Unterminated string)/;
/** An error at the last position also means that the text ends too early. */
const AT_POSITION = / at position (\d+)/;
const ESCAPED_UNIT = '\\u';
const SURROGATE_ESCAPE = /\\ud[89a-f]/i;
/** Matches a surrogate pair, a lone surrogate, or the start of any other escape. */
const ESCAPE = /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[dD][89a-fA-F][\da-fA-F]{2}|[^])/g;
const LONE_SURROGATE = '\\ufffd';

/**
 * Bytes read and discarded after a body is rejected, so that the client can read the response; then the connection is
 * closed.
 */
const MAX_DISCARDED_BYTES = 8 * 1024 * 1024;

/** Reads the whole body. @throws TooLarge as soon as the body is known to exceed `limitBytes`; the rest is discarded */
export function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const rejectTooLarge = (): void => {
      request.removeAllListeners('data');
      discardRest(request);
      reject(new TooLarge(`the request body must be at most ${limitBytes} bytes`));
    };
    if (Number(request.headers['content-length'] ?? 0) > limitBytes) {
      rejectTooLarge();
      return;
    }
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > limitBytes) rejectTooLarge();
      else chunks.push(chunk);
    });
    request.on('end', () => {
      const [first] = chunks;
      resolve(chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks));
    });
    request.on('error', (cause) => {
      reject(new InvalidResource('the request body was cut off', { cause }));
    });
  });
}

function discardRest(request: IncomingMessage): void {
  let discarded = 0;
  request.on('data', (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > MAX_DISCARDED_BYTES) request.destroy();
  });
}

/**
 * Parses the first JSON value of a body, which must be an object; `null` counts as `{}`. Text after the value is
 * ignored. Members are own properties, `__proto__` included. Timestamps of metric points keep full precision.
 * @throws InvalidResource
 */
export function parseObject(bytes: Buffer): object {
  assertBounds(bytes);
  const value = parseFirstValue(bytes, parseEventJson) ?? {};
  if (typeof value !== 'object' || Array.isArray(value)) throw new InvalidResource('body must be a JSON object');
  return value;
}

/**
 * Parses the first JSON value of a body, which must be an array; `null` counts as `[]`. Timestamps of metric points
 * keep full precision.
 * @throws InvalidResource
 */
export function parseArray(bytes: Buffer): unknown[] {
  assertBounds(bytes);
  const value = parseFirstValue(bytes, parsePointsJson) ?? [];
  if (!Array.isArray(value)) throw new InvalidResource('body must be a JSON array');
  return value;
}

/** Parses a body that must consist of exactly one JSON object. @throws InvalidResource */
export function parseSingleObject(bytes: Buffer): object {
  assertBounds(bytes);
  const value = parseWhole(bytes.toString());
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw new InvalidResource('body must be a JSON object');
  }
  return value;
}

/** @throws InvalidResource for a body that would take too long to parse */
function assertBounds(bytes: Buffer): void {
  if (bytes.length > UNBOUNDED_BYTES) endOfFirstValue(bytes);
}

function parseWhole(source: string): unknown {
  try {
    return parse(source);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new InvalidResource(`malformed JSON: ${cause.message}`, { cause });
  }
}

function parseFirstValue(bytes: Buffer, parseExactly: typeof parseEventJson): unknown {
  const source = bytes.toString();
  try {
    return parseExactly(source, parse);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    if (source.trim() === '') throw new InvalidResource('EOF', { cause });
    const end = endOfFirstValue(bytes);
    if (end === undefined || end === bytes.length) {
      const message = isTruncated(cause.message, source) ? 'unexpected EOF' : `malformed JSON: ${cause.message}`;
      throw new InvalidResource(message, { cause });
    }
    return parseFirstValue(bytes.subarray(0, end), parseExactly);
  }
}

const isTruncated = (message: string, source: string): boolean =>
  TRUNCATED.test(message) || Number(AT_POSITION.exec(message)?.[1]) === source.length;

const parse = (source: string): unknown =>
  JSON.parse(clampToInt64(hasSurrogateEscape(source) ? wellFormed(source) : source));

/** Searches for a fixed text first, which is faster. */
const hasSurrogateEscape = (source: string): boolean => source.includes(ESCAPED_UNIT) && SURROGATE_ESCAPE.test(source);

/** Replaces lone surrogates, which UTF-8 cannot represent, by U+FFFD. The length of the text does not change. */
const wellFormed = (source: string): string =>
  source.replaceAll(ESCAPE, (escape) => (escape.length === LONE_SURROGATE.length ? LONE_SURROGATE : escape));
