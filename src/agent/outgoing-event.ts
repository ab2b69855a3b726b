import { InvalidResource } from '../resources/errors.ts';
import { type CheckEvent, parseEventShape } from '../resources/event.ts';
import { type Codec, jsonCodec } from '../wire/codec.ts';
import { parseEventJson } from '../wire/exact-json.ts';
import { encodeJson } from '../wire/json-codec.ts';

/** What a backend takes in one message by default, less the line with the type. */
const MAX_EVENT_BYTES = 10 * 1024 * 1024 - 64;

/** The event as JSON. An output that makes it larger than a backend takes is cut, and says so: a result that is refused for its size is none. */
export function encodeWithinLimit(event: CheckEvent): string {
  const { output } = event.check;
  let payload = encodeJson(event);
  let kept = output.length;
  for (
    let bytes = Buffer.byteLength(payload);
    bytes > MAX_EVENT_BYTES && kept > 0;
    bytes = Buffer.byteLength(payload)
  ) {
    // Escapes are spread unevenly, so one cut in proportion may not be enough.
    kept = Math.floor(kept * (MAX_EVENT_BYTES / bytes) * 0.98);
    const note = `\nOutput cut at ${kept} of ${output.length} characters, the event would be too large\n`;
    payload = encodeJson({ ...event, check: { ...event.check, output: output.slice(0, kept) + note } });
  }
  return payload;
}

/** What is queued is JSON. Its rules are not judged: the backend shall hear of a check that breaks them. @throws InvalidResource */
export function encodeQueued(payload: string, codec: Codec): string | Buffer {
  return codec === jsonCodec ? payload : codec.encodeEvent(parseEventShape(parseJson(payload)));
}

function parseJson(payload: string): unknown {
  try {
    return parseEventJson(payload);
  } catch (error) {
    throw new InvalidResource('payload is not JSON', { cause: error });
  }
}
