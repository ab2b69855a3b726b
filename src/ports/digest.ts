/** A hash of UTF-8 text, as bytes. */
export type ByteDigest = (text: string) => Uint8Array;
