import type { Entity } from '../resources/entity.ts';
import { InvalidResource } from '../resources/errors.ts';
import { endOfFirstValue } from './json-bounds.ts';
import type { LastEntity } from './last-entity.ts';

/** The beginning of an event up to its entity, as agents encode it. */
const HEAD = /^\{"timestamp":-?\d+,"entity":(?=\{)/;
const LONGEST_HEAD = 64;
const NAME = '"entity":';
const COMMA = 0x2c;
/** A larger entity is decoded with each event. */
const MAX_ENTITY_BYTES = 32 * 1024;

/** The JSON of an event in two parts. */
export interface SplitEvent {
  /** The text without the entity. */
  rest: string;
  /** The entity of the sender's last event if it has the same bytes, else its bytes. */
  entity: Entity | Buffer;
}

/** Cuts the entity out of the JSON of an event. Undefined where it is not in the place in which agents encode it. */
export function splitEvent(payload: Buffer, last: LastEntity): SplitEvent | undefined {
  const head = HEAD.exec(payload.toString('latin1', 0, LONGEST_HEAD))?.[0];
  if (head === undefined) return undefined;
  const start = head.length;
  // The bytes of a whole object are the beginning of no other object.
  const known = last.findAt(payload, start);
  const end = known === undefined ? endOfEntity(payload, start) : start + known.bytes.length;
  if (end === undefined || payload[end] !== COMMA) return undefined;
  const rest = head.slice(0, -NAME.length) + payload.toString('utf8', end + 1);
  return { rest, entity: known?.entity ?? payload.subarray(start, end) };
}

function endOfEntity(payload: Buffer, start: number): number | undefined {
  try {
    const length = endOfFirstValue(payload.subarray(start, start + MAX_ENTITY_BYTES));
    return length === undefined ? undefined : start + length;
  } catch (error) {
    // It is nested more deeply than the bound of long messages, and may still be valid in a short one.
    if (error instanceof InvalidResource) return undefined;
    throw error;
  }
}
