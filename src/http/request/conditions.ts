import type { IncomingHttpHeaders } from 'node:http';
import { StaleRevision } from '../../resources/errors.ts';

/** The headers `If-Match` and `If-None-Match`, unparsed. */
export interface Conditions {
  ifMatch: string | undefined;
  ifNoneMatch: string | undefined;
}

const ANY = '*';
const WEAK = 'W/';
/** One entity tag, with the separators before it. */
const ELEMENT = /[ \t,]*(\*|(?:W\/)?"[!\x23-\x7e\x80-\xff]*")/gy;

export const conditionsOf = (headers: IncomingHttpHeaders): Conditions => ({
  ifMatch: headers['if-match'],
  ifNoneMatch: headers['if-none-match'],
});

/**
 * Checks that both headers permit changing a resource with this tag. An empty header is ignored. Source: RFC 9110,
 * 13.1.
 * @throws StaleRevision
 */
export function assertConditions(conditions: Conditions, tag: string): void {
  const { ifMatch = '' } = conditions;
  const isMatched = ifMatch === '' || tagsIn(ifMatch).some((sent) => sent === ANY || sent === tag);
  if (!isMatched || ifNoneMatchIncludes(conditions, tag)) throw new StaleRevision('at least one condition failed');
}

/** Whether `If-None-Match` includes this tag, so that the client has the current version. */
export const ifNoneMatchIncludes = ({ ifNoneMatch = '' }: Conditions, tag: string): boolean =>
  tagsIn(ifNoneMatch).some((sent) => sent === ANY || withoutWeakness(sent) === tag);

/** Parses the list up to the first malformed tag. */
const tagsIn = (list: string): string[] => [...list.matchAll(ELEMENT)].map(([, tag = '']) => tag);

const withoutWeakness = (tag: string): string => (tag.startsWith(WEAK) ? tag.slice(WEAK.length) : tag);
