import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { PARTIAL } from './backup.ts';
import { FILE_MODE, flush, yieldToEventLoop } from './durable-files.ts';
import type { LedgerEntry, LedgerHead } from '../ledger/ledger.ts';
import { type Verification, verify } from '../ledger/ledger-verification.ts';

/** Lines that are written at once. */
const LINES_PER_WRITE = 500;

/** The ledger cannot be exported as it is. */
export class ExportFailed extends Error {
  readonly code = 'export-failed';
}

/** The file that is to be verified is empty or a directory. */
export class NothingToVerify extends Error {
  readonly code = 'nothing-to-verify';
}

export interface Exported {
  /** The number of the first entry; undefined when there is none. */
  firstSeq: number | undefined;
  entries: number;
  head: LedgerHead;
}

/**
 * Writes ledger entries into a new file, each as a line of JSON. The chain is verified on the way; the file gets its name at the end,
 * and is durable when the promise resolves.
 *
 * @throws ExportFailed when the file exists, the ledger ends before the entry `after`, or an entry is broken or missing
 */
export async function exportLedger(
  entries: Iterable<{ seq: number; entry: LedgerEntry | Error }>,
  { path, after, signal }: { path: string; after: number; signal: AbortSignal },
): Promise<Exported> {
  if (existsSync(path)) throw new ExportFailed(`the file ${path} already exists; choose another path`);
  const partial = path + PARTIAL;
  rmSync(partial, { force: true });
  const file = openSync(partial, 'wx', FILE_MODE);
  try {
    const lines: string[] = [];
    const flushLines = (): void => {
      if (lines.length > 0) writeSync(file, `${lines.splice(0).join('\n')}\n`);
    };
    let firstSeq: number | undefined;
    let written = 0;
    const unverified: { seq: number; entry: LedgerEntry | Error }[] = [];
    let head: LedgerHead | undefined;
    let lastSeq = 0;
    for (const { seq, entry } of entries) {
      lastSeq = seq;
      if (seq <= after) continue;
      unverified.push({ seq, entry });
      if (!(entry instanceof Error)) lines.push(JSON.stringify(entry));
      firstSeq ??= seq;
      written += 1;
      if (unverified.length < LINES_PER_WRITE) continue;
      head = assertVerified(unverified.splice(0), head).head;
      flushLines();
      await yieldToEventLoop(signal);
    }
    if (lastSeq < after) throw new ExportFailed(endsBefore(lastSeq, after));
    if (unverified.length > 0) head = assertVerified(unverified, head).head;
    flushLines();
    fsyncSync(file);
    renameSync(partial, path);
    flush(dirname(path));
    return { firstSeq, entries: written, head: head ?? { seq: after, hash: '' } };
  } finally {
    closeSync(file);
    rmSync(partial, { force: true });
  }
}

const endsBefore = (lastSeq: number, after: number): string =>
  `the ledger ends at entry ${lastSeq}, before entry ${after} of --after: ` +
  'the store was restored from an older backup, the end of the ledger was cut off, or the number belongs to another ledger';

/** Verifies entries that follow `before`. @throws ExportFailed */
function assertVerified(
  entries: readonly { seq: number; entry: LedgerEntry | Error }[],
  before: LedgerHead | undefined,
): Extract<Verification, { ok: true }> {
  const [first] = entries;
  if (before !== undefined && first !== undefined && !(first.entry instanceof Error)) {
    if (first.seq !== before.seq + 1) throw new ExportFailed(`entry ${before.seq + 1} is missing`);
    if (first.entry.prevHash !== before.hash)
      throw new ExportFailed(`entry ${first.seq}: previous hash does not match`);
  }
  const result = verify(entries, { isPart: true });
  if (!result.ok) throw new ExportFailed(`entry ${result.seq}: ${result.reason}`);
  return result;
}

/**
 * Verifies a file that `exportLedger` has written, as a part of a ledger.
 *
 * @throws NothingToVerify when it is empty or a directory, Error when it cannot be read
 */
export function verifyExport(path: string, anchor: LedgerHead | undefined): Verification {
  if (statSync(path).isDirectory()) throw new NothingToVerify(`${path} is a directory, not an export of the ledger`);
  const text = readFileSync(path, 'utf8');
  if (text === '') throw new NothingToVerify(`${path} is empty: it has no entries to verify`);
  return verify(entriesOf(text.split('\n')), { anchor, isPart: true });
}

function* entriesOf(lines: readonly string[]): Iterable<{ seq: number; entry: LedgerEntry | Error }> {
  let last = 0;
  for (const [index, line] of lines.entries()) {
    if (line === '' && index === lines.length - 1) return;
    const entry = parsed(line, index + 1);
    last = entry instanceof Error ? last + 1 : entry.seq;
    yield { seq: last, entry };
  }
}

function parsed(line: string, number: number): LedgerEntry | Error {
  try {
    return JSON.parse(line) as LedgerEntry;
  } catch (cause) {
    return new Error(`line ${number} of the file is not an entry`, { cause });
  }
}
