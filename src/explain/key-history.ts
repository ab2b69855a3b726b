import { setImmediate as nextTick } from 'node:timers/promises';
import type { LedgerEntry } from '../store/ledger/ledger.ts';
import type { TransactionalStore } from '../store/commit/transactional-store.ts';

/** Slices of the ledger that are read for one key. A slice takes about 2 ms, and other work is done between two of them. */
const MAX_SLICES = 25;

export type LedgerReader = Pick<TransactionalStore, 'ledgerSlice' | 'ledgerSliceOfKey'>;

/** Entries, and whether further ones were not read. */
export interface ReadEntries {
  entries: LedgerEntry[];
  hasMore: boolean;
}

export interface KeyMoment {
  actor: string;
  key: string;
  untilMs: number;
}

export interface ActorMoment {
  actor: string;
  sinceMs: number;
  isEnough: (entry: LedgerEntry) => boolean;
  limit: number;
}

/** Reads the entries of a key up to a time, newest first, until `isEnough` or the limit. */
export async function entriesUpTo(
  ledger: LedgerReader,
  { actor, key, untilMs }: KeyMoment,
  { limit, isEnough = () => false }: { limit: number; isEnough?: (entry: LedgerEntry) => boolean },
): Promise<ReadEntries> {
  const entries: LedgerEntry[] = [];
  let beforeSeq = Number.MAX_SAFE_INTEGER;
  for (let slices = 0; slices < MAX_SLICES; slices += 1) {
    if (slices > 0) await nextTick();
    const slice = ledger.ledgerSliceOfKey({ actor, key, untilMs, beforeSeq, limit: limit + 1 - entries.length });
    for (const entry of slice.entries) {
      if (entries.length === limit) return { entries, hasMore: true };
      entries.push(entry);
      if (isEnough(entry)) return { entries, hasMore: entry.from !== null };
    }
    if (slice.beforeSeq === undefined) return { entries, hasMore: false };
    beforeSeq = slice.beforeSeq;
  }
  return { entries, hasMore: true };
}

/** The first entry of a key after a number; undefined when there is none. */
export function entryAfter(
  ledger: LedgerReader,
  actor: string,
  key: string,
  afterSeq: number,
): LedgerEntry | undefined {
  return ledger.ledgerSlice({ actor, key, afterSeq, limit: 1 }).entries[0];
}

/** Reads the entries of an actor from a time on, oldest first, until `isEnough` or the limit. */
export async function entriesOfActor(
  ledger: LedgerReader,
  { actor, sinceMs, isEnough, limit }: ActorMoment,
): Promise<ReadEntries> {
  const entries: LedgerEntry[] = [];
  let afterSeq = 0;
  for (let slices = 0; slices < MAX_SLICES; slices += 1) {
    if (slices > 0) await nextTick();
    const slice = ledger.ledgerSlice({ actor, sinceMs, afterSeq, limit: limit + 1 - entries.length });
    for (const entry of slice.entries) {
      if (entries.length === limit) return { entries, hasMore: true };
      entries.push(entry);
      if (isEnough(entry)) return { entries, hasMore: false };
    }
    if (slice.afterSeq === undefined) return { entries, hasMore: false };
    afterSeq = slice.afterSeq;
  }
  return { entries, hasMore: true };
}
