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

/** The most bytes of a number, a literal or the punctuation of a member. */
const SCALAR_BYTES = 32;
/** The most bytes of a unit of text, which is then an escape. */
const UNIT_BYTES = 6;

/** Returns a limit of the size that is found without encoding the value; it is at most a few times the size. */
export function atMostJsonBytes(value: unknown): number {
  if (typeof value === 'string') return UNIT_BYTES * value.length + SCALAR_BYTES;
  if (typeof value !== 'object' || value === null) return SCALAR_BYTES;
  let bytes = SCALAR_BYTES;
  for (const name in value) {
    bytes += UNIT_BYTES * name.length + SCALAR_BYTES + atMostJsonBytes((value as Record<string, unknown>)[name]);
  }
  return bytes;
}
