import type { IncomingMessage } from 'node:http';
import { InvalidResource, TooLarge } from '../../resources/errors.ts';
import { parseEventJson, parsePointsJson } from '../../wire/exact-json.ts';
import { withinInt64 } from './int64-literals.ts';

/** Deeper values are refused before they are parsed: what walks through them calls itself at each level. */
const MAX_NESTING = 1_000;
/** What the parser says of a text that ends too early; clients know it by the words of the reference. */
const CUT_OFF = /^(?:Unexpected end|Unterminated string)/;
/** At the end of the text it says that more was expected there. */
const AT_POSITION = / at position (\d+)/;
const SURROGATE_ESCAPE = /\\ud[89a-f]/i;
/** One after the other: a pair of surrogates, half of a pair, or the beginning of any other. */
const ESCAPE = /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[dD][89a-fA-F][\da-fA-F]{2}|[^])/g;
const HALF_OF_PAIR = '\\ufffd';

/** What is read of a body that was refused, so that its sender gets to the answer; then the connection is cut. */
const MAX_DROPPED_BYTES = 8 * 1024 * 1024;

/** The whole body. @throws TooLarge as soon as it is known to be longer than `limitBytes`; what is left is not kept */
export function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const refuse = (): void => {
      request.removeAllListeners('data');
      dropRest(request);
      reject(new TooLarge(`the request body must be at most ${limitBytes} bytes`));
    };
    if (Number(request.headers['content-length'] ?? 0) > limitBytes) {
      refuse();
      return;
    }
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > limitBytes) refuse();
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

function dropRest(request: IncomingMessage): void {
  let dropped = 0;
  request.on('data', (chunk: Buffer) => {
    dropped += chunk.length;
    if (dropped > MAX_DROPPED_BYTES) request.destroy();
  });
}

/**
 * The first JSON value of a body, which must be an object; what follows it is ignored and `null` is `{}`.
 * Members are own properties, `__proto__` too. Of an event the metric points keep their timestamps to the digit.
 * @throws InvalidResource
 */
export function parseObject(bytes: Buffer): object {
  const source = bytes.toString();
  // A value nested n deep takes at least n characters: most bodies need not be looked through.
  if (source.length > MAX_NESTING) endOfFirst(source);
  const value = parseFirst(source, parseEventJson) ?? {};
  if (typeof value !== 'object' || Array.isArray(value)) throw new InvalidResource('body must be a JSON object');
  return value;
}

/** The same of an array, of which `null` is an empty one: of metric points, whose timestamps stay to the digit. @throws InvalidResource */
export function parseArray(bytes: Buffer): unknown[] {
  const source = bytes.toString();
  if (source.length > MAX_NESTING) endOfFirst(source);
  const value = parseFirst(source, parsePointsJson) ?? [];
  if (!Array.isArray(value)) throw new InvalidResource('body must be a JSON array');
  return value;
}

/** The one JSON value that a body consists of, which must be an object. @throws InvalidResource */
export function parseOnlyObject(bytes: Buffer): object {
  const source = bytes.toString();
  if (source.length > MAX_NESTING) endOfFirst(source);
  const value = parseWhole(source);
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw new InvalidResource('body must be a JSON object');
  }
  return value;
}

function parseWhole(source: string): unknown {
  try {
    return parse(source);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new InvalidResource(`malformed JSON: ${cause.message}`, { cause });
  }
}

function parseFirst(source: string, parseExactly: typeof parseEventJson): unknown {
  try {
    return parseExactly(source, parse);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    if (source.trim() === '') throw new InvalidResource('EOF', { cause });
    const end = endOfFirst(source);
    if (end === undefined || end === source.length) {
      const fault = isCutOff(cause.message, source) ? 'unexpected EOF' : `malformed JSON: ${cause.message}`;
      throw new InvalidResource(fault, { cause });
    }
    return parseFirst(source.slice(0, end), parseExactly);
  }
}

const isCutOff = (message: string, source: string): boolean =>
  CUT_OFF.test(message) || Number(AT_POSITION.exec(message)?.[1]) === source.length;

const parse = (source: string): unknown =>
  JSON.parse(withinInt64(SURROGATE_ESCAPE.test(source) ? wellFormed(source) : source));

/** Half of a pair of surrogates cannot be written as UTF-8: it becomes U+FFFD. The text stays as long as it is. */
const wellFormed = (source: string): string =>
  source.replaceAll(ESCAPE, (escape) => (escape.length === HALF_OF_PAIR.length ? HALF_OF_PAIR : escape));

/** Where the object or array that `source` begins with ends; undefined when it does not. @throws InvalidResource when nested too deep */
function endOfFirst(source: string): number | undefined {
  let depth = 0;
  let inText = false;
  for (let index = 0; index < source.length; index += 1) {
    const character = source[index];
    if (inText) {
      if (character === '\\') index += 1;
      else if (character === '"') inText = false;
    } else if (character === '"') inText = true;
    else if (character === '{' || character === '[') {
      depth += 1;
      if (depth > MAX_NESTING) throw new InvalidResource(`JSON must be nested at most ${MAX_NESTING} deep`);
    } else if (character === '}' || character === ']') {
      depth -= 1;
      if (depth === 0) return index + 1;
    }
  }
  return undefined;
}
