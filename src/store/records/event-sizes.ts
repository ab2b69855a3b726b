import { jsonBytes } from '../../wire/json-parts.ts';
import type { EventRecord } from './records.ts';

/** A stored event and its size, in bytes. */
export interface EventSize {
  key: string;
  bytes: number;
}

/** The size of an event that is stored, without what is kept beside it: of its protobuf, or of its JSON. */
export const eventBytes = ({ encoded, event }: Pick<EventRecord, 'encoded' | 'event'>): number =>
  encoded?.length ?? jsonBytes(event);

/** The most bytes of a number: a sign, `0.`, five more zeros and 17 digits. */
const NUMBER_BYTES = 25;
/** The bytes of `false`; `true` and `null` have fewer. */
const LITERAL_BYTES = 5;
/** The most bytes of a unit of text, which is then an escape. */
const UNIT_BYTES = 6;
/** The quotation marks of a text, or the brackets of a list or an object. */
const ENCLOSING_BYTES = 2;
/** The colon after the name of a member, and the comma after the member. */
const MEMBER_BYTES = 2;
const COMMA_BYTES = 1;

const atMostTextBytes = (text: string): number => UNIT_BYTES * text.length + ENCLOSING_BYTES;

/** Returns a limit of the size that is found without encoding the value; it is at most a few times the size. */
export function atMostJsonBytes(value: unknown): number {
  if (typeof value === 'string') return atMostTextBytes(value);
  if (typeof value === 'number') return NUMBER_BYTES;
  if (typeof value === 'bigint') return value.toString().length;
  if (typeof value !== 'object' || value === null) return LITERAL_BYTES;
  let bytes = ENCLOSING_BYTES;
  if (Array.isArray(value)) {
    for (const item of value) bytes += atMostJsonBytes(item) + COMMA_BYTES;
    return bytes;
  }
  for (const name in value) {
    const member = (value as Record<string, unknown>)[name];
    if (member !== undefined) bytes += atMostTextBytes(name) + MEMBER_BYTES + atMostJsonBytes(member);
  }
  return bytes;
}
