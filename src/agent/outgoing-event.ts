import { InvalidResource } from '../resources/errors.ts';
import { type CheckEvent, parseEventShape } from '../resources/event.ts';
import { type Codec, jsonCodec } from '../wire/codec.ts';
import { parseEventJson } from '../wire/exact-json.ts';
import { encodeJson } from '../wire/json-codec.ts';

/** Default message limit of a backend, less the type line. */
const MAX_EVENT_BYTES = 10 * 1024 * 1024 - 64;

/**
 * Encodes an event as JSON. It truncates an output that exceeds the message limit and notes so, because a rejected
 * event would be lost.
 */
export function encodeWithinLimit(event: CheckEvent): string {
  const { output } = event.check;
  let payload = encodeJson(event);
  let kept = output.length;
  for (
    let bytes = Buffer.byteLength(payload);
    bytes > MAX_EVENT_BYTES && kept > 0;
    bytes = Buffer.byteLength(payload)
  ) {
    // Escapes may be distributed unevenly, so one proportional cut may not be enough.
    kept = Math.floor(kept * (MAX_EVENT_BYTES / bytes) * 0.98);
    const note = `\nOutput cut at ${kept} of ${output.length} characters, the event would be too large\n`;
    payload = encodeJson({ ...event, check: { ...event.check, output: output.slice(0, kept) + note } });
  }
  return payload;
}

/**
 * Encodes queued JSON without validating its rules, because the backend must learn of invalid checks.
 * @throws InvalidResource for an invalid shape
 */
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
