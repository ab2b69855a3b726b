import { cutBefore, cutOf } from './ledger-cut.ts';
import { GENESIS, hashOf, type LedgerEntry, type LedgerHead } from './ledger.ts';

/**
 * The result of `verify`: the ledger is intact up to its head, or the first broken entry and the reason. `base` is the last entry
 * before the first one that is stored, of a ledger that was cut. A result that is not `ok` has a `head` when the chain is intact up
 * to it, and only ends before the anchor.
 */
export type Verification =
  { ok: true; head: LedgerHead; base?: LedgerHead } | { ok: false; seq: number; reason: string; head?: LedgerHead };

export interface VerifyOptions {
  /** An entry that was recorded elsewhere. It also detects an end that was cut off and a ledger that was rewritten completely. */
  anchor?: LedgerHead | undefined;
  /** Whether the entries are a part of a ledger, such as an export, so that what is before them needs no explanation. */
  isPart?: boolean;
}

/**
 * Verifies a ledger from its first stored entry on. `entries` yields the stored entry of each number, or the error of reading it. When
 * entries are missing before the first one, a later entry must say that they were cut, with the hash of the last of them.
 */
export function verify(
  entries: Iterable<{ seq: number; entry: LedgerEntry | Error }>,
  { anchor = GENESIS, isPart = false }: VerifyOptions = {},
): Verification {
  let base: LedgerHead | undefined;
  let head = GENESIS;
  let isCertified = isPart;
  /** The hashes of the entries at which a cut can end. */
  const hashes = new Map<number, string>();
  for (const { seq, entry } of entries) {
    if (base === undefined && seq > 1 && !(entry instanceof Error)) head = { seq: seq - 1, hash: entry.prevHash };
    base ??= head;
    const expected = head.seq + 1;
    if (seq !== expected) return { ok: false, seq: expected, reason: `entry ${expected} is missing` };
    if (entry instanceof Error) return { ok: false, seq, reason: entry.message };
    const { hash: stored, ...rest } = entry;
    if (rest.seq !== seq) return { ok: false, seq, reason: `entry says it is number ${rest.seq}` };
    if (rest.prevHash !== head.hash) return { ok: false, seq, reason: 'previous hash does not match' };
    if (hashOf(rest) !== stored) return { ok: false, seq, reason: 'hash does not match the entry' };
    if (seq === anchor.seq && stored !== anchor.hash)
      return { ok: false, seq, reason: 'hash does not match the anchor' };
    head = { seq, hash: stored };
    if (cutBefore(seq) === seq) hashes.set(seq, stored);
    const cut = cutOf(entry);
    if (cut === undefined || base.seq === 0) continue;
    const known = cut.seq === base.seq ? base.hash : hashes.get(cut.seq);
    if (known !== undefined && known !== cut.hash)
      return {
        ok: false,
        seq,
        reason: `it says that entry ${cut.seq}, up to which the ledger was cut, has another hash`,
      };
    if (cut.seq >= base.seq) isCertified = true;
  }
  return resultOf({ base: base ?? GENESIS, head, anchor, isCertified });
}

function resultOf({
  base,
  head,
  anchor,
  isCertified,
}: {
  base: LedgerHead;
  head: LedgerHead;
  anchor: LedgerHead;
  isCertified: boolean;
}): Verification {
  if (base.seq > 0 && !isCertified) {
    return { ok: false, seq: 1, reason: `entries 1 to ${base.seq} are missing, and no entry says that they were cut` };
  }
  if (anchor.seq > 0 && anchor.seq === base.seq && anchor.hash !== base.hash) {
    return { ok: false, seq: anchor.seq, reason: 'hash does not match the anchor' };
  }
  if (anchor.seq > 0 && anchor.seq < base.seq) {
    const reason = `the anchored entry was cut with all up to ${base.seq}; verify the export that has it`;
    return { ok: false, seq: anchor.seq, reason };
  }
  if (head.seq < anchor.seq) {
    return { ok: false, seq: head.seq + 1, reason: `the ledger ends before the anchored entry ${anchor.seq}`, head };
  }
  return base.seq === 0 ? { ok: true, head } : { ok: true, head, base };
}
