import { MON, request } from '../../api/client.ts';
import type { LedgerEntry } from './ledger-entry.ts';

const PAGE = 1_000;
/** Entries of one file; they are held in memory until they are saved. */
const MAX_EXPORTED = 100_000;

/** Saves the entries of a filter as JSON lines. Returns how many there are. */
export async function exportLines(filter: Readonly<Record<string, string>>): Promise<number> {
  const parts: string[] = [];
  let count = 0;
  let next: string | undefined = '0';
  while (next !== undefined && count < MAX_EXPORTED) {
    const response: Response = await request('GET', `${MON}/ledger`, {
      query: { ...filter, limit: PAGE, continue: next },
    });
    const { entries } = (await response.json()) as { entries: LedgerEntry[] };
    for (const entry of entries) parts.push(`${JSON.stringify(entry)}\n`);
    count += entries.length;
    next = response.headers.get('Sensu-Continue') ?? undefined;
  }
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob(parts, { type: 'application/jsonl' }));
  link.download = 'ledger.jsonl';
  link.click();
  URL.revokeObjectURL(link.href);
  return count;
}
