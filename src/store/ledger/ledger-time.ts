import type { LedgerEntry } from './ledger.ts';

/** The maximum number of segments. At the bound the two oldest become one, whose entries are searched one after the other. */
const MAX_SEGMENTS = 100;
/** An entry that is older than the newest one before it by less than this begins no segment. */
const TOLERANCE_MS = 1_000;

/**
 * Entries between two times at which the clock was set back. Within a segment no entry is older than one before it by
 * `TOLERANCE_MS` or more.
 */
export interface LedgerSegment {
  firstSeq: number;
  /** The time of its first entry, Unix ms. */
  firstMs: number;
  /** The newest time in it, Unix ms. */
  maxMs: number;
  /** Whether it consists of several segments, so that its entries are in no order. */
  isUnordered?: true;
}

/** Returns the segments of a ledger without a record of them: a single one, which ends at `headMs`. */
export const singleSegment = (headMs: number): readonly LedgerSegment[] => [{ firstSeq: 1, firstMs: 0, maxMs: headMs }];

/** Returns the segments with further entries, and whether the stored record of the segments must be replaced by them. */
export function withEntries(
  before: readonly LedgerSegment[],
  entries: readonly Pick<LedgerEntry, 'seq' | 'atMs'>[],
): { segments: readonly LedgerSegment[]; isChanged: boolean } {
  const segments = [...before];
  let isChanged = false;
  for (const { seq, atMs } of entries) {
    const last = segments.at(-1);
    if (last === undefined || atMs <= last.maxMs - TOLERANCE_MS) {
      segments.push({ firstSeq: seq, firstMs: atMs, maxMs: atMs });
      isChanged = true;
    } else if (atMs < last.maxMs) {
      // The head of the ledger no longer shows the newest time, so that the record must.
      isChanged = true;
    } else {
      segments[segments.length - 1] = { ...last, maxMs: atMs };
    }
  }
  return { segments: bounded(segments), isChanged };
}

function bounded(segments: readonly LedgerSegment[]): readonly LedgerSegment[] {
  if (segments.length <= MAX_SEGMENTS) return segments;
  const excess = segments.length - MAX_SEGMENTS + 1;
  const merged = segments.slice(0, excess);
  const [first] = merged;
  if (first === undefined) return segments;
  const firstMs = Math.min(...merged.map((segment) => segment.firstMs));
  const maxMs = Math.max(...merged.map((segment) => segment.maxMs));
  return [{ firstSeq: first.firstSeq, firstMs, maxMs, isUnordered: true }, ...segments.slice(excess)];
}

/** Finds numbers by time. `timeOf` reads the time of an entry. */
export class LedgerTimeSearch {
  readonly #segments: readonly LedgerSegment[];
  readonly #endSeq: number;
  readonly #timeOf: (seq: number) => number;

  /** `endSeq` is the number after the last entry. */
  constructor(segments: readonly LedgerSegment[], endSeq: number, timeOf: (seq: number) => number) {
    this.#segments = segments;
    this.#endSeq = endSeq;
    this.#timeOf = timeOf;
  }

  /** Returns a number before which every entry is older than `atMs`. */
  firstSeqSince(atMs: number): number {
    for (const [index, segment] of this.#segments.entries()) {
      if (segment.maxMs < atMs) continue;
      if (segment.isUnordered === true) return segment.firstSeq;
      return this.#firstAt(segment.firstSeq, this.#endOf(index), atMs - TOLERANCE_MS);
    }
    return this.#endSeq;
  }

  /** Returns a number such that every entry from it on is newer than `atMs`. */
  endSeqUntil(atMs: number): number {
    for (let index = this.#segments.length - 1; index >= 0; index -= 1) {
      const segment = this.#segments[index];
      if (segment === undefined || segment.firstMs - TOLERANCE_MS > atMs) continue;
      if (segment.isUnordered === true) return this.#endOf(index);
      return this.#firstAt(segment.firstSeq, this.#endOf(index), atMs + TOLERANCE_MS + 1);
    }
    return 1;
  }

  #endOf(index: number): number {
    return this.#segments[index + 1]?.firstSeq ?? this.#endSeq;
  }

  /** The first entry at `atMs` or later between two numbers, by binary search. */
  #firstAt(firstSeq: number, endSeq: number, atMs: number): number {
    let [low, high] = [firstSeq, endSeq];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (this.#timeOf(middle) >= atMs) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
