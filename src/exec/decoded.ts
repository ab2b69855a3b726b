/** Bytes that are decoded at once. */
const STEP_BYTES = 256 * 1024;
/** The bytes that may follow the first one of a character. */
const MAX_FOLLOWING = 3;

const isFollowing = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** The last place at or before `end` that is not within a character. */
function boundaryAt(bytes: Buffer, end: number): number {
  for (let back = 0; back <= MAX_FOLLOWING; back += 1) if (!isFollowing(bytes[end - back])) return end - back;
  // Four of these bytes in a row are no character.
  return end;
}

/** Decodes UTF-8 as `bytes.toString()` does, in steps. */
export function* decoded(bytes: Buffer): Generator<undefined, string> {
  let text = '';
  for (let start = 0; start < bytes.length;) {
    const end = boundaryAt(bytes, start + STEP_BYTES);
    text += bytes.toString('utf8', start, end);
    start = end;
    yield;
  }
  return text;
}
