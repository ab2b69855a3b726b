import { join } from 'node:path';
import { expect } from 'chai';
import { emptyPuts } from '../../../src/store/commit/decision.ts';
import { verify } from '../../../src/store/ledger/ledger-verification.ts';
import { LmdbStore } from '../../../src/store/lmdb/lmdb-store.ts';
import { MIGRATIONS, OLDEST_VERSION } from '../../../src/store/migrations/migrations.ts';
import { eventOf, TABLE_NAMES } from '../../../src/store/records/records.ts';
import { StoreOutdated, STORE_VERSION } from '../../../src/store/lmdb/store-version.ts';
import { perTest } from '../../support/fixture.ts';
import { readLedger } from '../../support/read-ledger.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { FIXTURES, unpackFixture } from '../stored-fixtures.ts';
import { recordsOf } from '../stored-records.ts';
import { upgraded } from '../upgraded.ts';

/** Sorts after every key. */
const ALL = { from: '', to: '~' };
const NOTIFICATION_TABLES = ['notificationLog', 'notificationsByEvent', 'notificationsById'];
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** The upgrade derives the id of an incident from its event; a backend draws a random one. */
const UUID_OF_NAME = /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const TTLS = { backup: 'warning', disk: 'registered', mirror: 'critical' };

describe('the steps of an upgrade', () => {
  it('lead from each version to the next, without a gap', () => {
    expect(MIGRATIONS.map(({ to }) => to)).to.deep.equal(MIGRATIONS.map((_, index) => OLDEST_VERSION + 1 + index));
  });

  it('have a fixture of every version that they start from', () => {
    const versions = new Set(FIXTURES.map(({ version }) => version));
    expect([...versions]).to.include.members(MIGRATIONS.map(({ to }) => to - 1));
  });
});

for (const fixture of FIXTURES) {
  describe(`a store of version ${fixture.version} (${fixture.name})`, () => {
    const directory = perTest(temporaryDirectory, (made) => made.remove());
    let store: string;

    beforeEach(() => {
      store = join(directory.path, 'store');
      unpackFixture(fixture, store);
    });

    it('is rejected until it is upgraded', async () => {
      if (fixture.version < STORE_VERSION) {
        expect(() => new LmdbStore({ directory: store, sync: 'none' })).to.throw(StoreOutdated, 'mon-backend upgrade');
      }
      await upgraded(directory.path);
      await new LmdbStore({ directory: store, sync: 'none' }).close();
    });

    it('has the same keys after the upgrade, except for those of the upgrade itself, new indexes and the notifications', async () => {
      const before = await recordsOf(store);
      await upgraded(directory.path);
      const after = await recordsOf(store);
      after.get('meta')?.delete('last-upgrade');
      const made = [...(fixture.version < 5 ? NOTIFICATION_TABLES : []), ...(fixture.version < 6 ? ['incidents'] : [])];
      if (fixture.version < 5) before.set('notifications', new Map());
      for (const table of [...made, 'ledgerByActor']) after.delete(table);
      before.delete('ledgerByActor');
      expect([...after.keys()].toSorted()).to.deep.equal([...before.keys()].toSorted());
      for (const [table, records] of before) {
        expect([...(after.get(table)?.keys() ?? [])], table).to.deep.equal([...records.keys()]);
      }
    });

    it('has the same configuration, silences, outbox and ledger after the upgrade', async () => {
      const before = await recordsOf(store);
      await upgraded(directory.path);
      const after = await recordsOf(store);
      for (const table of ['resources', 'agentQueues', 'outbox', 'ledger', 'ledgerByKey']) {
        expect(after.get(table), table).to.deep.equal(before.get(table));
      }
    });

    it('is readable after the upgrade, and its ledger verifies', async () => {
      await upgraded(directory.path);
      const opened = new LmdbStore({ directory: store, sync: 'none' });
      try {
        for (const table of TABLE_NAMES) {
          for (const { value } of opened.range(table, ALL)) expect(value).to.not.equal(undefined);
        }
        const events = [...opened.range('events', ALL)].map(({ value }) => eventOf(value));
        expect(events.map(({ entity, check }) => `${entity.metadata.name}/${check.metadata.name}`)).to.include.members([
          'late/keepalive',
          'queued/numbered',
          'switch/port',
          'web/flaky',
        ]);
        expect(verify(opened.ledgerEntries())).to.have.property('ok', true);
      } finally {
        await opened.close();
      }
    });

    it('has the same index of the ledger by actor as a store that this program has written', async () => {
      await upgraded(directory.path);
      const found = (await recordsOf(store)).get('ledgerByActor');
      const opened = new LmdbStore({ directory: store, sync: 'none' });
      const written = new LmdbStore({ directory: join(directory.path, 'written'), sync: 'none' });
      try {
        const ledger = readLedger(opened);
        await written.write({ puts: emptyPuts(), ledger });
        for (const actor of new Set(ledger.map((entry) => entry.actor))) {
          expect(readLedger(opened, { actor }), actor).to.deep.equal(readLedger(written, { actor })).and.not.be.empty;
        }
      } finally {
        await opened.close();
        await written.close();
      }
      expect(found).to.deep.equal((await recordsOf(join(directory.path, 'written'))).get('ledgerByActor'));
    });

    it('has an incident for each event that fails or flaps, and for no other', async () => {
      await upgraded(directory.path);
      const opened = new LmdbStore({ directory: store, sync: 'none' });
      try {
        const events = [...opened.range('events', ALL)].map(({ key, value }) => ({ key, ...eventOf(value).check }));
        const open = events.filter(({ status, state }) => status !== 0 || state === 'flapping');
        const incidents = [...opened.range('incidents', ALL)];
        const isMigrated = fixture.version < 6;
        expect(incidents.map(({ key }) => key)).to.deep.equal(open.map(({ key }) => key));
        expect(incidents.map(({ key }) => key)).to.include.members(['default/web/disk', 'default/web/flaky']);
        for (const { key, value } of incidents) {
          expect(value.id, key).to.match(isMigrated ? UUID_OF_NAME : UUID);
          // A result that was sent without a time of execution has none.
          expect(value.openedAtS, key).to.be.within(
            key === 'default/switch/port' ? 0 : 1_700_000_000,
            value.lastStateChangeS,
          );
        }
      } finally {
        await opened.close();
      }
    });

    it('keeps the state and the deadline of each check TTL', async () => {
      await upgraded(directory.path);
      const opened = new LmdbStore({ directory: store, sync: 'none' });
      try {
        for (const [check, value] of Object.entries(TTLS)) {
          const ttl = opened.get('events', `default/web/${check}`)?.ttl;
          expect(ttl?.value, check).to.equal(value);
          expect(ttl?.context, check).to.include({ key: `default/web/${check}`, lastReceivedAtMs: 1_700_000_000_000 });
        }
      } finally {
        await opened.close();
      }
    });
  });
}
