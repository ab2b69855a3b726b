/** Shorter ASCII strings are decoded faster in JavaScript than by a native call. */
const MAX_SHORT_TEXT_BYTES = 24;

/** Returns the text of bytes in UTF-8. Replaces invalid UTF-8 by U+FFFD, because the output of a check may be arbitrary bytes. */
export function textOf(bytes: Buffer, start: number, end: number): string {
  if (end - start > MAX_SHORT_TEXT_BYTES) return bytes.toString('utf8', start, end);
  let text = '';
  let index = start;
  for (; index + 3 < end; index += 4) {
    const first = bytes[index] as number;
    const second = bytes[index + 1] as number;
    const third = bytes[index + 2] as number;
    const fourth = bytes[index + 3] as number;
    if ((first | second | third | fourth) >= 0x80) return bytes.toString('utf8', start, end);
    text += String.fromCharCode(first, second, third, fourth);
  }
  for (; index < end; index += 1) {
    const byte = bytes[index] as number;
    if (byte >= 0x80) return bytes.toString('utf8', start, end);
    text += String.fromCharCode(byte);
  }
  return text;
}
