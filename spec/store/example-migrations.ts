import { emptyPuts } from '../../src/store/commit/decision.ts';
import { chain, GENESIS } from '../../src/store/ledger/ledger.ts';
import { LmdbStore } from '../../src/store/lmdb/lmdb-store.ts';
import type { Migration } from '../../src/store/migrations/migration.ts';
import { rewriteJson } from '../../src/store/migrations/rewrite.ts';
import { STORE_VERSION } from '../../src/store/lmdb/store-version.ts';

/** The version after the newest one. */
export const FIRST = STORE_VERSION + 1;

export interface Numbered {
  name: string;
  n: number;
}

export const increment = (value: unknown): Numbered => {
  const { name, n } = value as Numbered;
  return { name, n: n + 1 };
};

/** Two steps with a result that is wrong if a record is converted twice, or not at all. */
export const EXAMPLE_MIGRATIONS: readonly Migration[] = [
  { to: FIRST, name: 'first', passes: [rewriteJson('resources', increment), rewriteJson('sessions', increment)] },
  {
    to: FIRST + 1,
    name: 'second',
    passes: [
      {
        table: 'resources',
        writes: ({ key, payload }) => [{ table: 'byName', key: `${payload.length}/${key}`, payload: Buffer.alloc(0) }],
      },
      rewriteJson('resources', (value) => increment(increment(value))),
    ],
  },
];

/** Creates a store with this number of resources, which the example steps convert. */
export async function fillStore(directory: string, resources: number): Promise<void> {
  const store = new LmdbStore({ directory, sync: 'none' });
  const puts = emptyPuts();
  for (let n = 0; n < resources; n += 1) {
    const name = `things/${String(n).padStart(5, '0')}`;
    puts.resources.set(name, { name, n: 0 });
  }
  puts.sessions.set('one', { name: 'one', n: 0 } as never);
  const entry = {
    atMs: 1,
    actor: 'entity' as const,
    key: 'default/a',
    from: null,
    event: 'keepalive.received',
    to: 'registered',
    cause: { restore: true } as const,
    guards: [],
    configRevision: 0,
  };
  await store.write({ puts, ledger: chain([entry], GENESIS) });
  await store.close();
}
