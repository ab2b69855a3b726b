import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { conditionsOf, ifNoneMatchIncludes } from '../request/conditions.ts';
import type { EarlierAnswer } from './earlier-route.ts';

const TAG_HEX_DIGITS = 32;
/** Headers of a list that its client needs although it has the list. */
const KEPT = 'X-Pagination';

/**
 * Adds a weak entity tag to JSON, and answers 304 when the client already has this JSON. Clients of the first generation ask for whole
 * lists every few seconds. A list that is too long for one text is read while it is sent, and has no tag.
 */
export function unlessUnchanged({ method, headers: sent }: IncomingMessage, answer: EarlierAnswer): EarlierAnswer {
  const { status, type, body, headers } = answer;
  if ((method !== 'GET' && method !== 'HEAD') || status !== 200) return answer;
  if (type !== 'application/json' || typeof body !== 'string') return answer;
  const tag = `"${hash('sha256', body, 'hex').slice(0, TAG_HEX_DIGITS)}"`;
  const tagged = { ETag: `W/${tag}` };
  if (!ifNoneMatchIncludes(conditionsOf(sent), tag)) return { ...answer, headers: { ...headers, ...tagged } };
  const kept = headers?.[KEPT];
  return { status: 304, headers: { ...tagged, ...(kept === undefined ? {} : { [KEPT]: kept }) } };
}
