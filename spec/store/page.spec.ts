import { expect } from 'chai';
import { emptyPuts } from '../../src/store/commit/decision.ts';
import { LmdbStore } from '../../src/store/lmdb/lmdb-store.ts';
import { lazyPage } from '../../src/store/page.ts';
import type { RangeReader } from '../../src/store/commit/transactional-store.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const KEYS = ['a', 'b', 'c', 'd', 'e'];

describe('a page that is read while it is iterated', () => {
  let directory: TemporaryDirectory;
  let store: LmdbStore;

  beforeEach(async () => {
    directory = await temporaryDirectory();
    store = new LmdbStore({ directory: directory.path, sync: 'none' });
    for (const key of [...KEYS.map((name) => `checks/${name}`), 'handlers/x']) await put(key);
  });

  afterEach(async () => {
    await store.close();
    await directory.remove();
  });

  async function put(key: string, isThere = true): Promise<void> {
    const puts = emptyPuts();
    puts.resources.set(key, isThere ? { name: key } : null);
    await store.write({ puts, ledger: [] });
  }

  const page = (limit?: number, from?: string) => lazyPage(store, 'resources', 'checks/', { limit, from });
  const names = (items: Iterable<object>) => [...items].map((item) => (item as { name: string }).name.at(-1));

  it('ends at its limit and has its last key, unless nothing follows', () => {
    expect(names(page(2).items)).to.deep.equal(['a', 'b']);
    expect(page(2).lastKey).to.equal('b');
    expect(names(page(2, 'b\0').items)).to.deep.equal(['c', 'd']);
    for (const limit of [5, 6, 1_000_000_000, undefined]) {
      expect(names(page(limit).items), String(limit)).to.deep.equal(KEYS);
      expect(page(limit).lastKey, String(limit)).to.equal(undefined);
    }
  });

  it('contains every item that stays exactly once, whatever is added and deleted meanwhile', async () => {
    const seen: object[] = [];
    for (const item of page().items) {
      seen.push(item);
      if (seen.length === 2) {
        await put('checks/b', false);
        await put('checks/a0');
        await put('checks/d0');
      }
    }
    expect(names(seen)).to.deep.equal(['a', 'b', 'c', 'd', '0', 'e']);
  });

  it('reads with one cursor until the caller awaits something, and then closes it, also when the caller reads no more', async () => {
    const cursors = { opened: 0, open: 0 };
    const countingReader: RangeReader = {
      get: (table, key) => store.get(table, key),
      keys: (table, range) => store.keys(table, range),
      *range(table, range) {
        cursors.opened += 1;
        cursors.open += 1;
        try {
          yield* store.range(table, range);
        } finally {
          cursors.open -= 1;
        }
      },
    };
    const { items } = lazyPage(countingReader, 'resources', 'checks/', {});
    expect(names(items)).to.deep.equal(KEYS);
    expect(cursors).to.deep.equal({ opened: 1, open: 0 });

    const seen: object[] = [];
    for (const item of items) {
      seen.push(item);
      if (seen.length !== 2) continue;
      expect(cursors.open).to.equal(1);
      await Promise.resolve();
      expect(cursors.open).to.equal(0);
    }
    expect(names(seen)).to.deep.equal(KEYS);
    expect(cursors).to.deep.equal({ opened: 3, open: 0 });

    items[Symbol.iterator]().next();
    expect(cursors.open).to.equal(1);
    await Promise.resolve();
    expect(cursors.open).to.equal(0);
  });

  it('can be iterated again', () => {
    const { items } = page();
    expect(names(items)).to.deep.equal(names(items));
  });
});
