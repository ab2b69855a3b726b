import type { IncomingHttpHeaders } from 'node:http';
import { StaleRevision } from '../../resources/errors.ts';

/** The headers `If-Match` and `If-None-Match`, as they were sent. */
export interface Conditions {
  ifMatch: string | undefined;
  ifNoneMatch: string | undefined;
}

const ANY = '*';
const WEAK = 'W/';
/** One element with what separates it from the one before it. */
const ELEMENT = /[ \t,]*(\*|(?:W\/)?"[!\x23-\x7e\x80-\xff]*")/gy;

export const conditionsOf = (headers: IncomingHttpHeaders): Conditions => ({
  ifMatch: headers['if-match'],
  ifNoneMatch: headers['if-none-match'],
});

/** Whether both allow to change what has this tag; an empty header is none. Source: RFC 9110, 13.1. @throws StaleRevision */
export function assertConditions(conditions: Conditions, tag: string): void {
  const { ifMatch = '' } = conditions;
  const isMatched = ifMatch === '' || tagsIn(ifMatch).some((sent) => sent === ANY || sent === tag);
  if (!isMatched || isKnown(conditions, tag)) throw new StaleRevision('at least one condition failed');
}

/** Whether `If-None-Match` names this tag: whoever sent it has what it is of. */
export const isKnown = ({ ifNoneMatch = '' }: Conditions, tag: string): boolean =>
  tagsIn(ifNoneMatch).some((sent) => sent === ANY || withoutWeakness(sent) === tag);

/** Up to the first that is malformed. */
const tagsIn = (list: string): string[] => [...list.matchAll(ELEMENT)].map(([, tag = '']) => tag);

const withoutWeakness = (tag: string): string => (tag.startsWith(WEAK) ? tag.slice(WEAK.length) : tag);
