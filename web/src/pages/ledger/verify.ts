import { get, MON } from '../../api/client.ts';
import type { LedgerEntry, LedgerPage } from './ledger-entry.ts';
import { sha256 } from './sha256.ts';

const PAGE = 500;

export interface Verification {
  /** The last entry that was read. */
  seq: number;
  head: number;
  state: 'running' | 'intact' | 'stopped' | 'failed';
  /** The error that was found, when verification failed. */
  error?: string;
}

/** Recomputes every hash in the browser, from the first entry that the backend still has. */
export async function verifyLedger(
  head: number,
  report: (progress: Verification) => void,
  signal: AbortSignal,
): Promise<void> {
  let seq = 0;
  let previous: LedgerEntry | undefined;
  while (!signal.aborted) {
    const query = { limit: PAGE, continue: seq };
    const { entries } = await get<LedgerPage>(`${MON}/ledger`, { query, signal });
    for (const entry of entries) {
      const error = errorIn(entry, previous);
      if (error !== undefined) {
        report({ seq: entry.seq, head, state: 'failed', error: `Entry ${entry.seq}: ${error}` });
        return;
      }
      previous = entry;
      seq = entry.seq;
    }
    const isOver = entries.length === 0 || seq >= head;
    report({ seq, head: Math.max(head, seq), state: isOver ? 'intact' : 'running' });
    if (isOver) return;
  }
}

export function errorIn(entry: LedgerEntry, previous: LedgerEntry | undefined): string | undefined {
  const { hash, ...rest } = entry;
  if (previous !== undefined && entry.seq !== previous.seq + 1) return `entry ${previous.seq + 1} is missing`;
  if (previous !== undefined && entry.prevHash !== previous.hash) return 'it does not continue the entry before it';
  return sha256(JSON.stringify(rest)) === hash ? undefined : 'its hash does not match its content';
}
