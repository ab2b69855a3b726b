import type { CheckEvent } from '../resources/event.ts';

/** How many bytes were cut off, as text (a name that clients of the wire know). */
const TRUNCATED_LABEL = 'sensu.io/output_truncated_bytes';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Where a cut at `limit` bytes begins so that no character is split. */
function boundaryBefore(bytes: Uint8Array, limit: number): number {
  let end = limit;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return end;
}

/** The event with its output cut to the check's `max_output_size` bytes and a label that says how much is missing. */
export function truncateOutput(event: CheckEvent): CheckEvent {
  const { check, metadata } = event;
  const limit = check.max_output_size ?? 0;
  if (limit <= 0 || check.output.length * 3 <= limit) return event;
  const bytes = encoder.encode(check.output);
  if (bytes.length <= limit) return event;
  const kept = boundaryBefore(bytes, limit);
  return {
    ...event,
    check: { ...check, output: decoder.decode(bytes.subarray(0, kept)) },
    metadata: { ...metadata, labels: { ...metadata.labels, [TRUNCATED_LABEL]: String(bytes.length - kept) } },
  };
}
