import {
  actorBlockKey,
  blockOf,
  ENTRIES_PER_BLOCK,
  ledgerIndexKey,
  seqOfActorBlock,
  seqOfIndexKey,
} from '../encoding/keyspace.ts';
import type { LedgerEntry } from './ledger.ts';

export type IndexTable = 'ledgerByKey' | 'ledgerByActor';

/** Reads the ledger and its index keys as they are stored. */
export interface IndexedLedger {
  entry(seq: number): LedgerEntry | Error | undefined;
  hasKey(table: IndexTable, key: string): boolean;
  keysOf(table: IndexTable): Iterable<string>;
}

/** The first entry at which an index and the ledger differ. */
export interface IndexDifference {
  seq: number;
  reason: string;
}

/**
 * Compares the indexes with the ledger in both directions: each entry must be in them, and each index key must name an entry. A running
 * backend may add entries meanwhile.
 */
export class IndexComparison {
  readonly #ledger: IndexedLedger;
  readonly #hasActors: boolean;
  readonly #lastBlocks = new Map<string, number>();
  #entries = 0;
  /** The blocks of all actors. */
  #blocks = 0;
  #difference: IndexDifference | undefined;

  /** `hasActors` is false for a store without an index by actor, which an older version wrote. */
  constructor(ledger: IndexedLedger, hasActors: boolean) {
    this.#ledger = ledger;
    this.#hasActors = hasActors;
  }

  /** Passes the entries on and compares each with the indexes. */
  *over(entries: Iterable<{ seq: number; entry: LedgerEntry | Error }>): typeof entries {
    for (const item of entries) {
      this.#entries += 1;
      if (!(item.entry instanceof Error)) this.#compare(item.seq, item.entry);
      yield item;
    }
  }

  #compare(seq: number, { actor, key }: LedgerEntry): void {
    if (!this.#ledger.hasKey('ledgerByKey', ledgerIndexKey(actor, key, seq))) {
      this.#difference ??= { seq, reason: 'the index by key does not contain it' };
    }
    const block = blockOf(seq);
    if (!this.#hasActors || this.#lastBlocks.get(actor) === block) return;
    this.#lastBlocks.set(actor, block);
    this.#blocks += 1;
    if (!this.#ledger.hasKey('ledgerByActor', actorBlockKey(actor, block))) {
      this.#difference ??= { seq, reason: 'the index by actor does not contain it' };
    }
  }

  /** The first difference, after all entries have been passed on. */
  result(): IndexDifference | undefined {
    return this.#difference ?? this.#strayKey() ?? this.#strayBlock();
  }

  /** If there are as many keys as entries, every key belongs to an entry. */
  #strayKey(): IndexDifference | undefined {
    if (this.#count('ledgerByKey') === this.#entries) return undefined;
    for (const indexKey of this.#ledger.keysOf('ledgerByKey')) {
      const seq = seqOfIndexKey(indexKey);
      const entry = this.#entryAt(seq);
      if (entry instanceof Error || (entry && ledgerIndexKey(entry.actor, entry.key, seq) === indexKey)) continue;
      return stray('key', indexKey, seq);
    }
    return undefined;
  }

  #strayBlock(): IndexDifference | undefined {
    if (!this.#hasActors || this.#count('ledgerByActor') === this.#blocks) return undefined;
    for (const blockKey of this.#ledger.keysOf('ledgerByActor')) {
      const firstSeq = seqOfActorBlock(blockKey);
      if (!this.#isInBlock(blockKey, firstSeq)) return stray('actor', blockKey, firstSeq);
    }
    return undefined;
  }

  #isInBlock(blockKey: string, firstSeq: number): boolean {
    for (let seq = firstSeq; seq < firstSeq + ENTRIES_PER_BLOCK; seq += 1) {
      const entry = this.#entryAt(seq);
      if (entry instanceof Error || (entry && actorBlockKey(entry.actor, blockOf(seq)) === blockKey)) return true;
    }
    return false;
  }

  #entryAt(seq: number): LedgerEntry | Error | undefined {
    return Number.isInteger(seq) ? this.#ledger.entry(seq) : undefined;
  }

  #count(table: IndexTable): number {
    let keys = 0;
    for (const _ of this.#ledger.keysOf(table)) keys += 1;
    return keys;
  }
}

const stray = (index: string, key: string, seq: number): IndexDifference => ({
  seq: Number.isInteger(seq) ? seq : 0,
  reason: `the index by ${index} contains ${JSON.stringify(key)}, and the ledger has no such entry`,
});
