import { crc32 } from 'node:zlib';

/** The version of the layout of a stored value. The store version counts the changes of what values contain. */
const LAYOUT_VERSION = 1;
const HEADER_BYTES = 5;

/** A stored value whose bytes differ from those that were written. */
export class CorruptRecord extends Error {
  /** A copy of the bytes, where they are known. */
  readonly bytes: Buffer | undefined;

  constructor(message: string, bytes?: Buffer) {
    super(message);
    this.bytes = bytes;
  }
}

/** Returns what `read` returns, and undefined if it reads a damaged record. */
export function ifIntact<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof CorruptRecord)) throw error;
    return undefined;
  }
}

/** Returns memory for a value. */
export type Allocate = (bytes: number) => Buffer;

const ownMemory: Allocate = (bytes) => Buffer.allocUnsafe(bytes);

/** Allocates a buffer for the header, which `sealInPlace` fills, and a payload of this size. */
export const allocateSealed = (payloadBytes: number, allocate: Allocate = ownMemory): Buffer =>
  allocate(HEADER_BYTES + payloadBytes);

/** The offset of the payload in a sealed value. */
export const PAYLOAD_AT = HEADER_BYTES;

/** Fills the header: a checksum, because LMDB has no page checksums, and the version of the layout. */
export function sealInPlace(buffer: Buffer): Buffer {
  buffer[4] = LAYOUT_VERSION;
  buffer.writeUInt32LE(crc32(buffer.subarray(4)), 0);
  return buffer;
}

/** Seals a payload. */
export function sealed(payload: Buffer): Buffer {
  const buffer = allocateSealed(payload.length);
  payload.copy(buffer, PAYLOAD_AT);
  return sealInPlace(buffer);
}

export function sealText(text: string, allocate?: Allocate): Buffer {
  const buffer = allocateSealed(Buffer.byteLength(text), allocate);
  buffer.write(text, PAYLOAD_AT);
  return sealInPlace(buffer);
}

/** Returns the payload of a stored value. @throws CorruptRecord when the checksum does not match or the layout is unknown */
export function unseal(value: Buffer, what: string): Buffer {
  if (value.length < HEADER_BYTES || crc32(value.subarray(4)) !== value.readUInt32LE(0)) {
    throw new CorruptRecord(`${what}: checksum does not match`, copyOf(value));
  }
  if (value[4] !== LAYOUT_VERSION) {
    throw new CorruptRecord(`${what}: unknown layout version ${value[4]}`, copyOf(value));
  }
  return value.subarray(HEADER_BYTES);
}

/** A value in the memory of LMDB is shorter than its buffer, which `subarray` alone respects. */
const copyOf = (value: Buffer): Buffer => Buffer.from(value.subarray(0));
