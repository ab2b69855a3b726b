import { crc32 } from 'node:zlib';

const SCHEMA = 1;
const HEADER_BYTES = 5;

/** A stored value whose bytes are not what was written. */
export class CorruptRecord extends Error {}

/** LMDB has no page checksums: each value carries its own, and the version of its schema. */
export function seal(payload: Buffer): Buffer {
  const sealed = Buffer.allocUnsafe(HEADER_BYTES + payload.length);
  sealed[4] = SCHEMA;
  payload.copy(sealed, HEADER_BYTES);
  sealed.writeUInt32LE(crc32(sealed.subarray(4)), 0);
  return sealed;
}

/** @throws CorruptRecord when the checksum does not match or the schema is not known */
export function unseal(sealed: Buffer, what: string): Buffer {
  if (sealed.length < HEADER_BYTES || crc32(sealed.subarray(4)) !== sealed.readUInt32LE(0)) {
    throw new CorruptRecord(`${what}: checksum does not match`);
  }
  if (sealed[4] !== SCHEMA) throw new CorruptRecord(`${what}: unknown schema ${sealed[4]}`);
  return sealed.subarray(HEADER_BYTES);
}
