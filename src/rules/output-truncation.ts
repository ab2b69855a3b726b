import type { CheckEvent } from '../resources/event.ts';

/** The label with the number of bytes that were cut off. Clients know this name. */
const TRUNCATED_LABEL = 'sensu.io/output_truncated_bytes';

/** Bytes of UTF-8 that are counted at a time, so that a long output is never encoded as a whole. */
const STEP_BYTES = 65_536;
/** No UTF-16 unit takes more bytes in UTF-8. */
const MAX_BYTES_PER_UNIT = 3;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Returns the number of bytes of `text` in UTF-8 from the unit `start` on. */
function bytesFrom(text: string, start: number): number {
  const scratch = new Uint8Array(STEP_BYTES);
  let bytes = 0;
  for (let at = start; at < text.length;) {
    // One unit more than fits, so that no step ends between the two halves of a character.
    const { read, written } = encoder.encodeInto(text.slice(at, at + STEP_BYTES + 1), scratch);
    at += read;
    bytes += written;
  }
  return bytes;
}

/** Returns the first `units` of `text`, whose UTF-8 is `bytes`. A short part must not be a slice, which keeps the whole text in memory. */
const beginningOf = (text: string, units: number, bytes: Uint8Array): string =>
  units * 2 > text.length ? text.slice(0, units) : decoder.decode(bytes);

/** Cuts the output to the check's `max_output_size` bytes and adds a label with the number of bytes that are missing. */
export function truncateOutput(event: CheckEvent): CheckEvent {
  const { check, metadata } = event;
  const limit = check.max_output_size ?? 0;
  if (limit <= 0 || check.output.length * MAX_BYTES_PER_UNIT <= limit) return event;
  const kept = new Uint8Array(Math.min(limit, check.output.length * MAX_BYTES_PER_UNIT));
  const { read, written } = encoder.encodeInto(check.output, kept);
  const missing = bytesFrom(check.output, read);
  if (missing === 0) return event;
  return {
    ...event,
    check: { ...check, output: beginningOf(check.output, read, kept.subarray(0, written)) },
    metadata: { ...metadata, labels: { ...metadata.labels, [TRUNCATED_LABEL]: String(missing) } },
  };
}
