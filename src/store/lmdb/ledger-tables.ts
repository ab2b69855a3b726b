import type { Database } from 'lmdb';
import { type Environment, ledgerTable, sizeOfTable, type TextTable, textTable } from './lmdb-environment.ts';
import { cutBefore, type LedgerExtent } from '../ledger/ledger-cut.ts';
import { GENESIS, type LedgerEntry, type LedgerHead } from '../ledger/ledger.ts';
import { CODECS } from '../records/codecs.ts';
import { decodeLedgerEntry, encodeLedgerEntry, readLedgerEntry } from '../ledger/ledger-codec.ts';
import { type KeyQuery, type KeySlice, type LedgerQuery, type LedgerSlice, matches } from '../ledger/ledger-query.ts';
import { type LedgerSegment, LedgerTimeSearch, singleSegment, withEntries } from '../ledger/ledger-time.ts';
import {
  actorBlockKey,
  afterActorBlocks,
  afterIndexedActor,
  actorOfIndexKey,
  blockOf,
  ENTRIES_PER_BLOCK,
  ledgerIndexKey,
  seqOfActorBlock,
  seqOfIndexKey,
} from '../encoding/keyspace.ts';
import { type Allocate, CorruptRecord } from '../encoding/sealed.ts';

/** The bounds of one slice, whichever comes first. Reading a slice takes about 2 ms. */
const MAX_SLICE_ENTRIES = 200;
const MAX_SLICE_BYTES = 512 * 1024;

/** Where `meta` keeps the segments of the ledger; absent while the clock has never been set back. */
const SEGMENTS_KEY = 'ledger-segments';

/** The value of an index entry, which has its information in the key alone. */
const MARK = Buffer.alloc(0);

interface StoredEntry {
  seq: number;
  value: Buffer;
}

/**
 * The tables of the ledger: the entries by number, `ledgerByKey` with every entry by actor and key, and `ledgerByActor` with the
 * blocks of numbers in which an actor has entries.
 */
export class LedgerTables {
  readonly databases: readonly { getStats(): object }[];
  readonly #entries: Database<Buffer, number>;
  readonly #byKey: TextTable;
  readonly #byActor: TextTable;
  /** The last block of each actor that is stored. */
  #marked: ReadonlyMap<string, number> = new Map();
  readonly #meta: TextTable;
  readonly #root: Environment;
  #segments: readonly LedgerSegment[] | undefined;

  constructor(root: Environment, meta: TextTable) {
    this.#meta = meta;
    this.#root = root;
    this.#entries = ledgerTable(root);
    this.#byKey = textTable(root, 'ledgerByKey');
    this.#byActor = textTable(root, 'ledgerByActor');
    this.databases = [this.#entries, this.#byKey, this.#byActor];
  }

  /** Adds entries to the current transaction. Returns a function to call when the transaction is durable. */
  put(entries: readonly LedgerEntry[], allocate: Allocate): () => void {
    const marked = new Map(this.#marked);
    for (const entry of entries) {
      const { seq, actor, key } = entry;
      void this.#entries.put(seq, encodeLedgerEntry(entry, allocate));
      void this.#byKey.put(ledgerIndexKey(actor, key, seq), MARK);
      if (marked.get(actor) === blockOf(seq)) continue;
      marked.set(actor, blockOf(seq));
      void this.#byActor.put(actorBlockKey(actor, blockOf(seq)), MARK);
    }
    const { segments, isChanged } = withEntries(this.#knownSegments(), entries);
    if (isChanged) void this.#meta.put(SEGMENTS_KEY, CODECS.meta.encode(segments));
    return () => {
      this.#marked = marked;
      this.#segments = segments;
    };
  }

  /**
   * Removes entries up to a number, with their index entries, in the current transaction: at most `limit`, in whole blocks. Returns
   * the function that does it, and whether more are left.
   */
  cut(throughSeq: number, limit: number): { apply: () => void; isDone: boolean } {
    const { firstSeq } = this.extent();
    const lastSeq = Math.min(cutBefore(throughSeq), cutBefore(firstSeq + limit));
    const removed = [...this.#entries.getRange({ start: firstSeq, end: lastSeq + 1, snapshot: false })].map(
      ({ key: seq, value }) => ({ seq, entry: readLedgerEntry(value, seq) }),
    );
    const apply = (): void => {
      for (const { seq, entry } of removed) {
        void this.#entries.remove(seq);
        // The index entries of a damaged entry are unknown; verification reports them.
        if (entry instanceof Error) continue;
        void this.#byKey.remove(ledgerIndexKey(entry.actor, entry.key, seq));
        void this.#byActor.remove(actorBlockKey(entry.actor, blockOf(seq)));
      }
    };
    return { apply, isDone: removed.length === 0 || lastSeq >= cutBefore(throughSeq) };
  }

  /** Where the ledger begins, and its size. */
  extent(): LedgerExtent {
    let firstSeq = this.head().seq + 1;
    for (const seq of this.#entries.getKeys({ limit: 1, snapshot: false })) firstSeq = seq;
    const sizes = [this.#entries, this.#byKey, this.#byActor].map((table) => sizeOfTable(this.#root, table));
    return { firstSeq, entries: sizes[0]?.entries ?? 0, bytes: sizes.reduce((sum, { bytes }) => sum + bytes, 0) };
  }

  /** The segments as they are stored, up to the newest entry. */
  #knownSegments(): readonly LedgerSegment[] {
    if (this.#segments !== undefined) return this.#segments;
    const headMs = this.#headMs();
    const bytes = this.#meta.get(SEGMENTS_KEY);
    if (bytes === undefined) return singleSegment(headMs);
    const stored = CODECS.meta.decode(bytes, `meta ${SEGMENTS_KEY}`) as readonly LedgerSegment[];
    return stored.map((segment, index) =>
      index === stored.length - 1 ? { ...segment, maxMs: Math.max(segment.maxMs, headMs) } : segment,
    );
  }

  #headMs(): number {
    for (const { key, value } of this.#entries.getRange({ reverse: true, limit: 1 })) {
      return decodeLedgerEntry(value, key).atMs;
    }
    return -Infinity;
  }

  #timeSearch(): LedgerTimeSearch {
    const timeOf = (seq: number): number => {
      const bytes = this.#entries.get(seq);
      return bytes === undefined ? -Infinity : decodeLedgerEntry(bytes, seq).atMs;
    };
    return new LedgerTimeSearch(this.#knownSegments(), this.head().seq + 1, timeOf);
  }

  head(): LedgerHead {
    for (const { key, value } of this.#entries.getRange({ reverse: true, limit: 1 })) {
      const { seq, hash } = decodeLedgerEntry(value, key);
      return { seq, hash };
    }
    return GENESIS;
  }

  /** Reads a bounded number of entries. @throws CorruptRecord */
  slice(query: LedgerQuery): LedgerSlice {
    const { sinceMs = 0, untilMs = Infinity, afterSeq = 0, limit } = query;
    const firstSeq = Math.max(afterSeq + 1, sinceMs > 0 ? this.#timeSearch().firstSeqSince(sinceMs) : 0);
    const endSeq = untilMs === Infinity ? Infinity : this.#timeSearch().endSeqUntil(untilMs);
    const entries: LedgerEntry[] = [];
    let read = 0;
    let bytes = 0;
    let lastSeq = firstSeq - 1;
    for (const { seq, value } of this.#candidates(query, firstSeq)) {
      if (entries.length >= limit || read >= MAX_SLICE_ENTRIES || bytes >= MAX_SLICE_BYTES) {
        return { entries, afterSeq: lastSeq };
      }
      if (seq >= endSeq) break;
      const entry = decodeLedgerEntry(value, seq);
      if (matches(entry, query)) entries.push(entry);
      read += 1;
      bytes += value.length;
      lastSeq = seq;
    }
    return { entries, afterSeq: undefined };
  }

  /** Reads a bounded number of entries of one key, newest first. @throws CorruptRecord */
  sliceOfKey({ actor, key, untilMs = Infinity, beforeSeq = Number.MAX_SAFE_INTEGER, limit }: KeyQuery): KeySlice {
    const endSeq = untilMs === Infinity ? beforeSeq : Math.min(beforeSeq, this.#timeSearch().endSeqUntil(untilMs));
    if (endSeq <= 1) return { entries: [], beforeSeq: undefined };
    const entries: LedgerEntry[] = [];
    let read = 0;
    let bytes = 0;
    let lastSeq = endSeq;
    const range = { start: ledgerIndexKey(actor, key, endSeq - 1), end: ledgerIndexKey(actor, key, 0) };
    for (const indexKey of this.#byKey.getKeys({ ...range, reverse: true, snapshot: false })) {
      if (entries.length >= limit || read >= MAX_SLICE_ENTRIES || bytes >= MAX_SLICE_BYTES) {
        return { entries, beforeSeq: lastSeq };
      }
      const { seq, value } = this.#entryOf(indexKey);
      const entry = decodeLedgerEntry(value, seq);
      if (entry.atMs <= untilMs) entries.push(entry);
      read += 1;
      bytes += value.length;
      lastSeq = seq;
    }
    return { entries, beforeSeq: undefined };
  }

  /** The newest entry of one key, in one look-up. @throws CorruptRecord */
  last(actor: string, key: string): LedgerEntry | undefined {
    const start = ledgerIndexKey(actor, key, Number.MAX_SAFE_INTEGER);
    const end = ledgerIndexKey(actor, key, 0);
    for (const indexKey of this.#byKey.getKeys({ start, end, reverse: true, limit: 1, snapshot: false })) {
      const { seq, value } = this.#entryOf(indexKey);
      return decodeLedgerEntry(value, seq);
    }
    return undefined;
  }

  *all(): Iterable<{ seq: number; entry: LedgerEntry | Error }> {
    for (const { key: seq, value } of this.#entries.getRange({ snapshot: false })) {
      yield { seq, entry: readLedgerEntry(value, seq) };
    }
  }

  /** The entries from a number on that can match, in order: by the narrowest index that the query allows. */
  #candidates({ actor, key }: LedgerQuery, firstSeq: number): Iterable<StoredEntry> {
    if (key !== undefined) return this.#entriesOfKey(actor === undefined ? this.#actors() : [actor], key, firstSeq);
    return actor === undefined ? this.#range(firstSeq) : this.#entriesOfActor(actor, firstSeq);
  }

  *#range(firstSeq: number, endSeq?: number): Iterable<StoredEntry> {
    const end = endSeq === undefined ? {} : { end: endSeq };
    for (const { key: seq, value } of this.#entries.getRange({ start: firstSeq, ...end, snapshot: false })) {
      yield { seq, value };
    }
  }

  /** More entries than a slice reads, so that the slice ends before these do. */
  *#entriesOfKey(actors: Iterable<string>, key: string, firstSeq: number): Iterable<StoredEntry> {
    const limit = MAX_SLICE_ENTRIES + 1;
    const found: { indexKey: string; seq: number }[] = [];
    for (const actor of actors) {
      const start = ledgerIndexKey(actor, key, firstSeq);
      const end = ledgerIndexKey(actor, key, Number.MAX_SAFE_INTEGER);
      for (const indexKey of this.#byKey.getKeys({ start, end, limit, snapshot: false })) {
        found.push({ indexKey, seq: seqOfIndexKey(indexKey) });
      }
    }
    found.sort((one, other) => one.seq - other.seq);
    for (const { indexKey } of found.slice(0, limit)) yield this.#entryOf(indexKey);
  }

  /** Every actor that has entries, with one look-up each. There are as many as kinds of actors and resources. */
  *#actors(): Iterable<string> {
    for (let start = ''; ;) {
      const [indexKey] = this.#byKey.getKeys({ start, limit: 1, snapshot: false });
      if (indexKey === undefined) return;
      const actor = actorOfIndexKey(indexKey);
      yield actor;
      start = afterIndexedActor(actor);
    }
  }

  *#entriesOfActor(actor: string, firstSeq: number): Iterable<StoredEntry> {
    const start = actorBlockKey(actor, blockOf(firstSeq));
    for (const blockKey of this.#byActor.getKeys({ start, end: afterActorBlocks(actor), snapshot: false })) {
      const blockSeq = seqOfActorBlock(blockKey);
      yield* this.#range(Math.max(firstSeq, blockSeq), blockSeq + ENTRIES_PER_BLOCK);
    }
  }

  #entryOf(indexKey: string): StoredEntry {
    const seq = seqOfIndexKey(indexKey);
    const value = this.#entries.get(seq);
    if (value === undefined) throw new CorruptRecord(`ledger entry ${seq} is missing`);
    return { seq, value };
  }
}
