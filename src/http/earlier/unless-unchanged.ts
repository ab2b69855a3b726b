import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { setImmediate as nextTick } from 'node:timers/promises';
import { conditionsOf, ifNoneMatchIncludes } from '../request/conditions.ts';
import type { EarlierAnswer } from './earlier-route.ts';

const TAG_HEX_DIGITS = 32;
/** Headers of a list that its client needs although it has the list. */
const KEPT = 'X-Pagination';

/** Characters of a list. A longer one has no tag, because it is sent while it is read. */
const MAX_TAGGED_LENGTH = 512 * 1_024;

/**
 * Adds a weak entity tag to JSON, and answers 304 when the client already has this JSON. Clients of the first generation ask for whole
 * lists every few seconds. Serves other requests between the parts of a list.
 */
export async function unlessUnchanged(
  { method, headers: sent }: IncomingMessage,
  answer: EarlierAnswer,
): Promise<EarlierAnswer> {
  const { status, type, headers } = answer;
  if ((method !== 'GET' && method !== 'HEAD') || status !== 200 || type !== 'application/json') return answer;
  if (answer.body === undefined) return answer;
  const body = await textUnlessLong(answer.body);
  if (typeof body !== 'string') return { ...answer, body };
  const tag = `"${hash('sha256', body, 'hex').slice(0, TAG_HEX_DIGITS)}"`;
  const tagged = { ETag: `W/${tag}` };
  if (!ifNoneMatchIncludes(conditionsOf(sent), tag)) return { ...answer, body, headers: { ...headers, ...tagged } };
  const kept = headers?.[KEPT];
  return { status: 304, headers: { ...tagged, ...(kept === undefined ? {} : { [KEPT]: kept }) } };
}

type Body = NonNullable<EarlierAnswer['body']>;

/** Joins the parts of a body. Returns all parts of one that is too long, which are then read one at a time. */
async function textUnlessLong(body: Body): Promise<Body> {
  if (typeof body === 'string' || Buffer.isBuffer(body)) return body;
  const parts = body[Symbol.iterator]();
  const first: string[] = [];
  for (let length = 0; length < MAX_TAGGED_LENGTH;) {
    const part = parts.next();
    if (part.done === true) return first.join('');
    first.push(part.value);
    length += part.value.length;
    await nextTick();
  }
  return allOf(first, { [Symbol.iterator]: () => parts });
}

function* allOf(first: readonly string[], others: Iterable<string>): Iterable<string> {
  yield* first;
  yield* others;
}
