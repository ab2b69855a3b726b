export const UUID_BYTES = 16;

/** A buffer for the text of one UUID at a time. */
const UUID_TEXT = Buffer.from('00000000-0000-0000-0000-000000000000');
const HEX_DIGITS = Buffer.from('0123456789abcdef');
/** Whether a hyphen follows the byte. */
const isBeforeHyphen = (index: number): boolean => index === 3 || index === 5 || index === 7 || index === 9;

/** Returns the text of a UUID. It is made at once and not of its parts, because it is read character by character. */
export function uuidOf(bytes: Buffer, start: number): string {
  let at = 0;
  for (let index = 0; index < UUID_BYTES; index += 1) {
    const byte = bytes[start + index] as number;
    UUID_TEXT[at] = HEX_DIGITS[byte >>> 4] as number;
    UUID_TEXT[at + 1] = HEX_DIGITS[byte & 0xf] as number;
    at += isBeforeHyphen(index) ? 3 : 2;
  }
  return UUID_TEXT.toString('latin1');
}
