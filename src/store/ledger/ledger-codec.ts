import type { LedgerEntry } from './ledger.ts';
import { type Allocate, sealText, unseal } from '../encoding/sealed.ts';

export const encodeLedgerEntry = (entry: LedgerEntry, allocate?: Allocate): Buffer =>
  sealText(JSON.stringify(entry), allocate);

/** @throws CorruptRecord */
export const decodeLedgerEntry = (bytes: Buffer, seq: number): LedgerEntry =>
  JSON.parse(unseal(bytes, `ledger entry ${seq}`).toString()) as LedgerEntry;

/** Returns the entry, or the error of reading it. */
export function readLedgerEntry(bytes: Buffer, seq: number): LedgerEntry | Error {
  try {
    return decodeLedgerEntry(bytes, seq);
  } catch (error) {
    return error instanceof Error ? error : new Error('unreadable', { cause: error });
  }
}
