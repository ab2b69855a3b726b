import { ENTRIES_PER_BLOCK } from '../encoding/keyspace.ts';
import type { LedgerEntry, LedgerHead } from './ledger.ts';

export const LEDGER_ACTOR = 'ledger';
export const CUT_EVENT = 'ledger.cut';

/** The key of `meta` with the `LedgerHead` up to which the ledger is cut. */
export const LEDGER_CUT_KEY = 'ledger-cut';

/** Where the stored ledger begins, and its size with its indexes. */
export interface LedgerExtent {
  /** The number of the first entry that is stored; one more than the head's when there is none. */
  firstSeq: number;
  entries: number;
  bytes: number;
}

/** The last number up to which the ledger can be cut when `seq` is the last that may go. Cuts end with a block of the index by actor. */
export const cutBefore = (seq: number): number => Math.floor((seq + 1) / ENTRIES_PER_BLOCK) * ENTRIES_PER_BLOCK - 1;

/** Returns what an entry says was cut: the last removed entry. Undefined for other entries. */
export function cutOf({ actor, event, details }: LedgerEntry): LedgerHead | undefined {
  if (actor !== LEDGER_ACTOR || event !== CUT_EVENT) return undefined;
  const { throughSeq, hash } = details ?? {};
  return typeof throughSeq === 'number' && typeof hash === 'string' ? { seq: throughSeq, hash } : undefined;
}
