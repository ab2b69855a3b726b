import type { LedgerEntry } from '../../src/store/ledger/ledger.ts';
import type { BenchedBackend } from './benched-backend.ts';

const PAGE = 1_000;

/** All ledger entries of one kind of actor, in order. */
export async function ledgerEntries(backend: BenchedBackend, actor: string): Promise<LedgerEntry[]> {
  const headers = { Authorization: await backend.authorization() };
  const found: LedgerEntry[] = [];
  for (let after: string | null = '0'; after !== null;) {
    const query = new URLSearchParams({ actor, limit: String(PAGE), continue: after });
    const response = await fetch(`http://127.0.0.1:${backend.api}/api/mon/v1/ledger?${query}`, { headers });
    if (!response.ok) throw new Error(`the ledger could not be read: ${response.status} ${await response.text()}`);
    const { entries } = (await response.json()) as { entries: LedgerEntry[] };
    found.push(...entries);
    after = response.headers.get('Sensu-Continue');
  }
  return found;
}
