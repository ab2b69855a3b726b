import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTick } from 'node:timers/promises';
import { expect } from 'chai';
import { emptyPuts } from '../../../src/store/commit/decision.ts';
import { chain, GENESIS, type LedgerDraft } from '../../../src/store/ledger/ledger.ts';
import { LmdbStore } from '../../../src/store/lmdb/lmdb-store.ts';
import type { EntityRecord } from '../../../src/store/records/records.ts';
import { StoreOutdated, StoreTooNew, StoreTooOld } from '../../../src/store/lmdb/store-version.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../../support/temporary-directory.ts';
import type { LedgerQuery } from '../../../src/store/ledger/ledger-query.ts';
import { readLedger } from '../../support/read-ledger.ts';

const draft = (key: string, atMs: number): LedgerDraft => ({
  atMs,
  actor: 'entity',
  key,
  from: 'registered',
  event: 'deadline.reached',
  to: 'warning',
  cause: { deadlineAtMs: atMs },
  guards: [],
  configRevision: 0,
});

describe('the LMDB store', () => {
  let directory: TemporaryDirectory;
  let store: LmdbStore;

  beforeEach(async () => {
    directory = await temporaryDirectory();
    store = new LmdbStore({ directory: directory.path, sync: 'none' });
  });

  afterEach(async () => {
    await store.close();
    await directory.remove();
  });

  it('shows a complete write set to the next read', async () => {
    const puts = emptyPuts();
    puts.resources.set('namespaces/a', { name: 'a' });
    puts.resources.set('namespaces/b', { name: 'b' });
    await store.write({ puts, ledger: [] });
    expect(store.get('resources', 'namespaces/a')).to.deep.equal({ name: 'a' });
    const second = emptyPuts();
    second.resources.set('namespaces/a', null);
    await store.write({ puts: second, ledger: [] });
    expect([...store.keys('resources', { from: 'namespaces/', to: 'namespaces0' })]).to.deep.equal(['namespaces/b']);
  });

  it('shows no older state of an entity than what was written with it', async () => {
    for (let n = 1; n <= 50; n += 1) {
      void store.get('entities', 'default/web');
      const puts = emptyPuts();
      puts.entities.set('default/web', { state: { last_seen: n } } as EntityRecord);
      puts.notificationsById.set('latest', String(n));
      let isWritten = false;
      const written = store.write({ puts, ledger: [] }).then(() => (isWritten = true));
      while (!isWritten) {
        const latest = Number(store.get('notificationsById', 'latest') ?? 0);
        expect(store.get('entities', 'default/web')?.state.last_seen ?? 0).to.be.at.least(latest);
        await nextTick();
      }
      await written;
    }
  });

  it('maps its file once while it grows to 10 MB', async () => {
    const value = { text: 'a'.repeat(100_000) };
    for (let round = 0; round < 10; round += 1) {
      const puts = emptyPuts();
      for (let index = 0; index < 10; index += 1) puts.resources.set(`checks/default/${round}-${index}`, value);
      await store.write({ puts, ledger: [] });
    }
    const maps = readFileSync('/proc/self/maps', 'utf8').split('\n');
    expect(maps.filter((line) => line.endsWith(join(directory.path, 'data.mdb')))).to.have.lengthOf(1);
  });

  it('has no record with a key that is too long to be stored', () => {
    for (const name of ['a'.repeat(2_000), 'a'.repeat(10_000_000), 'ä'.repeat(1_000)]) {
      expect(store.get('resources', `handlers/default/${name}`)).to.equal(undefined);
      expect(store.get('events', `default/${name}/c`)).to.equal(undefined);
    }
  });

  it('lists keys in the order of the API: by namespace and name, joined by a slash', async () => {
    const puts = emptyPuts();
    for (const key of ['checks/b/a', 'checks/a/z', 'checks/a-b/a', 'checks/a/B']) puts.resources.set(key, {});
    await store.write({ puts, ledger: [] });
    const keys = [...store.keys('resources', { from: 'checks/', to: 'checks0' })];
    expect(keys).to.deep.equal(['checks/a-b/a', 'checks/a/B', 'checks/a/z', 'checks/b/a']);
  });

  it('finds ledger entries by key and by time, in order', async () => {
    const drafts = Array.from({ length: 50 }, (_, index) => draft(`default/e${index % 5}`, 1_000 + index * 10));
    await store.write({ puts: emptyPuts(), ledger: chain(drafts, GENESIS) });
    const seqs = (query: Partial<LedgerQuery>) => readLedger(store, query).map(({ seq }) => seq);
    expect(seqs({ actor: 'entity', key: 'default/e1', limit: 3 })).to.deep.equal([2, 7, 12]);
    expect(seqs({ actor: 'entity', key: 'default/e1', afterSeq: 12, limit: 2 })).to.deep.equal([17, 22]);
    expect(seqs({ key: 'default/e0', sinceMs: 1_400, limit: 9 })).to.deep.equal([41, 46]);
    expect(seqs({ sinceMs: 1_480, limit: 9 })).to.deep.equal([49, 50]);
    expect(seqs({ untilMs: 1_010, limit: 9 })).to.deep.equal([1, 2]);
    expect(store.ledgerHead().seq).to.equal(50);
  });

  it('does not find the entries of a key that only starts with the same text', async () => {
    const drafts = [draft('default/web', 1), draft('default/web-1', 2), draft('default/web', 3)];
    await store.write({ puts: emptyPuts(), ledger: chain(drafts, GENESIS) });
    const found = readLedger(store, { actor: 'entity', key: 'default/web', limit: 9 });
    expect(found.map(({ seq }) => seq)).to.deep.equal([1, 3]);
  });

  for (const [version, error] of [
    [99, StoreTooNew],
    [1, StoreTooOld],
  ] as const) {
    it(`rejects a store of version ${version}`, async () => {
      const puts = emptyPuts();
      puts.meta.set('store-version', version);
      await store.write({ puts, ledger: [] });
      await store.close();
      const reopen = () => new LmdbStore({ directory: directory.path, sync: 'none' });
      expect(reopen).to.throw(error, `version ${version}`);
      store = new LmdbStore({ directory: `${directory.path}/other`, sync: 'none' });
    });
  }

  it('rejects a store with an unfinished upgrade and names the command that continues it', async () => {
    const puts = emptyPuts();
    puts.meta.set('upgrade', { from: 2, backup: '', step: { to: 3, pass: 0, after: null } });
    await store.write({ puts, ledger: [] });
    await store.close();
    const reopen = () => new LmdbStore({ directory: directory.path, sync: 'none' });
    expect(reopen).to.throw(StoreOutdated, 'run "mon-backend upgrade"');
    store = new LmdbStore({ directory: `${directory.path}/other`, sync: 'none' });
  });
});
