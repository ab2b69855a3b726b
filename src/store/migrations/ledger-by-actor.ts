import { INDEX_MARK, type Migration } from './migration.ts';

const ENTRIES_PER_BLOCK = 64;

/** A key of the index by key: `<actor>/<key>#<number of the entry, 16 digits>`. */
const INDEX_KEY = /^([^/]+)\/.*#(\d{16})$/s;

/** The key `<actor>#<block, 6 digits in base 36>` of the block of numbers that the indexed entry is in; undefined for no index key. */
export function blockKeyOf(indexKey: string): string | undefined {
  const [, actor, seq] = INDEX_KEY.exec(indexKey) ?? [];
  if (actor === undefined) return undefined;
  const block = Math.floor(Number(seq) / ENTRIES_PER_BLOCK);
  return `${actor}#${block.toString(36).padStart(6, '0')}`;
}

/** Builds the index of the ledger by actor from the index by key. The ledger itself stays as it is. */
export const LEDGER_BY_ACTOR: Migration = {
  to: 4,
  name: 'index of the ledger by actor',
  passes: [
    {
      table: 'ledgerByKey',
      isIndex: true,
      writes({ key: indexKey }) {
        const key = blockKeyOf(indexKey);
        return key === undefined ? [] : [{ table: 'ledgerByActor', key, payload: INDEX_MARK }];
      },
    },
  ],
};
