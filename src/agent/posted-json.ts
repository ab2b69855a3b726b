import { InvalidResource } from '../resources/errors.ts';
import type { Event } from '../resources/event.ts';
import { endOfFirstValue } from '../wire/json-bounds.ts';
import { decodeEventShape } from '../wire/json-codec.ts';

const BLANKS: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);
const OPENING_BRACE = 0x7b;

/**
 * Decodes the first JSON value of a body; what follows is ignored, as the reference does. Names of members may differ in case.
 * @throws InvalidResource with the text of the reference where the value is missing or incomplete
 */
export function decodePostedEvent(body: Buffer): Event {
  const start = body.findIndex((byte) => !BLANKS.has(byte));
  if (start < 0) throw new InvalidResource('EOF');
  const json = body.subarray(start);
  if (json[0] !== OPENING_BRACE) {
    const isNull = json.toString('latin1', 0, 4) === 'null';
    throw new InvalidResource(isNull ? 'an event must be provided' : 'the event must be a JSON object');
  }
  const end = endOfFirstValue(json);
  if (end === undefined) throw new InvalidResource('unexpected EOF');
  return decodeEventShape(json.subarray(0, end));
}
