import type { CheckEvent } from '../resources/event.ts';

/** The label with the number of bytes that were cut off. Clients know this name. */
const TRUNCATED_LABEL = 'sensu.io/output_truncated_bytes';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Returns the last position at or before `limit` that does not split a character. */
function boundaryBefore(bytes: Uint8Array, limit: number): number {
  let end = limit;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return end;
}

/** Cuts the output to the check's `max_output_size` bytes and adds a label with the number of bytes that are missing. */
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
