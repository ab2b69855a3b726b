import type { LedgerEntry } from './ledger.ts';
import { type Allocate, allocateSealed, PAYLOAD_AT, sealInPlace, unseal } from '../encoding/sealed.ts';

/** The first byte of an entry with its hashes as bytes. Store versions up to 6 wrote the whole entry as JSON, which begins with a brace. */
const WITH_HASHES = 1;
const HASH_BYTES = 32;
const HASH_AT = 1 + HASH_BYTES;
const JSON_AT = HASH_AT + HASH_BYTES;

/** Encodes an entry: a format byte, the previous hash, the hash, and the other members as JSON. */
export function encodeLedgerEntry({ prevHash, hash, ...members }: LedgerEntry, allocate?: Allocate): Buffer {
  const json = JSON.stringify(members);
  const buffer = allocateSealed(JSON_AT + Buffer.byteLength(json), allocate);
  buffer[PAYLOAD_AT] = WITH_HASHES;
  buffer.write(prevHash, PAYLOAD_AT + 1, 'hex');
  buffer.write(hash, PAYLOAD_AT + HASH_AT, 'hex');
  buffer.write(json, PAYLOAD_AT + JSON_AT);
  return sealInPlace(buffer);
}

/** @throws CorruptRecord */
export function decodeLedgerEntry(bytes: Buffer, seq: number): LedgerEntry {
  const payload = unseal(bytes, `ledger entry ${seq}`);
  if (payload[0] !== WITH_HASHES) return JSON.parse(payload.toString()) as LedgerEntry;
  const members = JSON.parse(payload.toString('utf8', JSON_AT)) as Omit<LedgerEntry, 'prevHash' | 'hash'>;
  const prevHash = payload.toString('hex', 1, HASH_AT);
  return { ...members, prevHash, hash: payload.toString('hex', HASH_AT, JSON_AT) };
}

/** Returns the entry, or the error of reading it. */
export function readLedgerEntry(bytes: Buffer, seq: number): LedgerEntry | Error {
  try {
    return decodeLedgerEntry(bytes, seq);
  } catch (error) {
    return error instanceof Error ? error : new Error('unreadable', { cause: error });
  }
}
