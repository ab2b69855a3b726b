import { crc32 } from 'node:zlib';

const SCHEMA = 1;
const HEADER_BYTES = 5;

/** A stored value whose bytes differ from those that were written. */
export class CorruptRecord extends Error {}

/** Allocates a buffer for a payload of so many bytes, after the header that `sealInPlace` fills. */
export const roomFor = (payloadBytes: number): Buffer => Buffer.allocUnsafe(HEADER_BYTES + payloadBytes);

/** The offset of the payload. */
export const PAYLOAD_AT = HEADER_BYTES;

/** Fills the header. LMDB has no page checksums, so that each value has its own, and the version of its schema. */
export function sealInPlace(room: Buffer): Buffer {
  room[4] = SCHEMA;
  room.writeUInt32LE(crc32(room.subarray(4)), 0);
  return room;
}

/** A sealed payload. */
export function sealed(payload: Buffer): Buffer {
  const room = roomFor(payload.length);
  payload.copy(room, PAYLOAD_AT);
  return sealInPlace(room);
}

/** A sealed text. */
export function sealText(text: string): Buffer {
  const room = roomFor(Buffer.byteLength(text));
  room.write(text, PAYLOAD_AT);
  return sealInPlace(room);
}

/** @throws CorruptRecord when the checksum does not match or the schema is not known */
export function unseal(value: Buffer, what: string): Buffer {
  if (value.length < HEADER_BYTES || crc32(value.subarray(4)) !== value.readUInt32LE(0)) {
    throw new CorruptRecord(`${what}: checksum does not match`);
  }
  if (value[4] !== SCHEMA) throw new CorruptRecord(`${what}: unknown schema ${value[4]}`);
  return value.subarray(HEADER_BYTES);
}
