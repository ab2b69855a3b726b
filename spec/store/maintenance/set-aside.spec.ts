import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { recordNotification } from '../../../src/actors/events/notification-records.ts';
import { settle } from '../../../src/actors/events/settle-notification.ts';
import { parseEvent } from '../../../src/resources/event.ts';
import { eventAddress, resourceKey } from '../../../src/store/encoding/keyspace.ts';
import { CorruptRecord } from '../../../src/store/encoding/sealed.ts';
import { isUnchangedSinceCleanStop } from '../../../src/store/lmdb/clean-stop.ts';
import { LmdbStore } from '../../../src/store/lmdb/lmdb-store.ts';
import { RawStore } from '../../../src/store/lmdb/raw-store.ts';
import { UPGRADE_KEY } from '../../../src/store/lmdb/store-version.ts';
import { CheckedStore } from '../../../src/store/maintenance/checked-store.ts';
import { QuarantineDirectory, QuarantineFull } from '../../../src/store/maintenance/quarantine-directory.ts';
import { SET_ASIDE_KEY, type SetAside, setDamagedAside } from '../../../src/store/maintenance/set-aside.ts';
import { checkRecords } from '../../../src/store/maintenance/store-check.ts';
import { NotificationStore } from '../../../src/store/notification-store.ts';
import type { TableName } from '../../../src/store/records/records.ts';
import { DecisionsOn } from '../../support/decision-on.ts';
import { checkEvent } from '../../support/example-events.ts';
import { perTest } from '../../support/fixture.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { damageRecords } from './record-damage.ts';

const NOW_MS = 1_700_000_000_000;
const KEY = 'default/web-1/disk';
const EVENT = parseEvent(checkEvent('web-1', 'disk'));
const TIMES = { decidedAtMs: NOW_MS, atMs: NOW_MS, durationMs: 0 };
const FAILED = { handler: 'h', reason: '', status: 1, outcome: 'failed', isDeadLetter: true, ...TIMES } as const;

describe('the damaged records of a store', () => {
  const made = perTest(temporaryDirectory, (directory) => directory.remove());
  const directory = (): string => join(made.path, 'store');
  const quarantine = (): string => join(made.path, 'quarantine');
  const setAside = (): Promise<SetAside[]> =>
    setDamagedAside(directory(), new QuarantineDirectory(quarantine()), 'own-host');

  async function use<T>(run: (store: LmdbStore) => Promise<T> | T): Promise<T> {
    const store = new LmdbStore({ directory: directory(), sync: 'none' });
    try {
      return await run(store);
    } finally {
      await store.close();
    }
  }

  async function useRaw<T>(run: (store: RawStore) => T): Promise<T> {
    const store = new RawStore({ directory: directory(), sync: 'none' });
    try {
      return run(store);
    } finally {
      await store.close();
    }
  }

  /** Stores a notification that was handled, `one`, and two with dead letters, `two` and `three`. */
  const fill = (): Promise<void> =>
    use(async (store) => {
      await new DecisionsOn(store).decide((ctx) => {
        ctx.put('resources', resourceKey('namespaces', undefined, 'default'), { name: 'default' });
        recordNotification(ctx, KEY, { ...FAILED, id: 'one', status: 0, outcome: 'handled', isDeadLetter: undefined });
        for (const id of ['two', 'three']) {
          const entry = {
            notificationId: id,
            namespace: 'default',
            handler: 'h',
            key: KEY,
            event: EVENT,
            decidedAtMs: 0,
          };
          settle(ctx, { outboxKey: id, key: KEY, notification: { ...FAILED, id }, entry });
        }
      });
    });

  const damage = (records: readonly [TableName, string][]): Promise<string[]> => damageRecords(directory(), records);

  /** The key of the notification with an id, or of its other records. */
  const keyOf = (table: 'notificationLog' | 'notificationsByEvent' | 'deadLetters', id: string): Promise<string> =>
    use((store) => {
      const logKey = store.get('notificationsById', id) ?? expect.fail(`there is no ${id}`);
      if (table === 'notificationLog') return logKey;
      const [, number = ''] = logKey.split('/');
      return table === 'deadLetters' ? `${number}/${id}` : `${KEY}/${number}`;
    });

  const findings = () => useRaw((store) => [...checkRecords(new CheckedStore(store))]);
  const left = () =>
    use((store) =>
      new NotificationStore(store)
        .ofEvent(eventAddress(KEY), 10)
        .map(({ id, isDeadLetter = false }) => ({ id, isDeadLetter })),
    );

  const ONE = { id: 'one', isDeadLetter: false };
  const CASES: readonly {
    lost: readonly ['notificationLog' | 'notificationsByEvent' | 'notificationsById' | 'deadLetters', string][];
    remaining: object[];
    restored: number;
  }[] = [
    { lost: [['notificationLog', 'two']], remaining: [ONE, { id: 'three', isDeadLetter: true }], restored: 0 },
    {
      lost: [['deadLetters', 'two']],
      remaining: [ONE, { id: 'two', isDeadLetter: false }, { id: 'three', isDeadLetter: true }],
      restored: 0,
    },
    {
      lost: [
        ['notificationsByEvent', 'two'],
        ['notificationsById', 'three'],
      ],
      remaining: [ONE, { id: 'two', isDeadLetter: true }, { id: 'three', isDeadLetter: true }],
      restored: 2,
    },
    {
      lost: [
        ['notificationLog', 'two'],
        ['notificationsByEvent', 'two'],
        ['notificationsByEvent', 'one'],
        ['deadLetters', 'three'],
        ['notificationsById', 'three'],
      ],
      remaining: [ONE, { id: 'three', isDeadLetter: false }],
      restored: 2,
    },
  ];

  for (const { lost, remaining, restored } of CASES) {
    const names = lost.map(([table, id]) => `${table} of ${id}`).join(', ');
    it(`leave consistent notifications when they are set aside: ${names}`, async () => {
      await fill();
      expect(await findings()).to.deep.equal([]);
      const keys = await Promise.all(
        lost.map(async ([table, id]): Promise<[TableName, string]> => [
          table,
          table === 'notificationsById' ? id : await keyOf(table, id),
        ]),
      );
      await damage(keys);
      const records = await setAside();
      expect(records.map(({ table, key }) => [table, key])).to.have.deep.members(keys);
      expect(records.filter(({ now }) => now === 'restored')).to.have.length(restored);
      expect(await left()).to.deep.equal(remaining);
      expect(await findings()).to.deep.equal([]);
    });
  }

  it('have their bytes in files of their own, also when they are damaged again', async () => {
    await fill();
    const namespace: [TableName, string] = ['resources', 'namespaces/default'];
    for (const last of [1, 2]) {
      await damageRecords(directory(), [namespace], last);
      const [record] = await setAside();
      expect(record).to.deep.include({ table: 'resources', key: 'namespaces/default', now: 'restored' });
      expect(readFileSync(record?.file ?? '')).to.have.length(record?.bytes ?? 0);
    }
    expect(readdirSync(quarantine())).to.have.length(2);
    expect(await useRaw((store) => store.meta(SET_ASIDE_KEY))).to.have.length(2);
  });

  for (const table of ['deletions', 'renewals'] as const) {
    it(`prevent the start when one is in the table ${table}`, async () => {
      await use((store) =>
        new DecisionsOn(store).decide((ctx) => {
          if (table === 'renewals') ctx.put(table, `events/${KEY}`, { id: 1 });
          else
            ctx.put(table, 'events/default/', { id: 1, event: 'event.deleted', cause: { restore: true }, after: '' });
        }),
      );
      const [name = ''] = await damage([[table, table === 'renewals' ? `events/${KEY}` : 'events/default/']]);
      const error: unknown = await setAside().catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(CorruptRecord);
      expect(error).to.have.property('message', `${name.replace('/', ' ')}: checksum does not match`);
    });
  }

  it('stay when the quarantine has no room for all of them', async () => {
    await fill();
    const quarantined = new QuarantineDirectory(quarantine());
    for (let n = 0; n < 999; n += 1) await quarantined.write(`outbox-${n}`, Buffer.from('bytes'));
    await damage([
      ['resources', 'namespaces/default'],
      ['notificationsById', 'one'],
    ]);
    expect(await setAside().catch((reason: unknown) => reason)).to.be.instanceOf(QuarantineFull);
    expect(readdirSync(quarantine())).to.have.length(999);
    expect(await findings()).to.have.length(2);
  });

  it('stay while an upgrade of the store is not finished', async () => {
    await fill();
    await useRaw((store) => {
      store.write([], { [UPGRADE_KEY]: { to: 1 } });
    });
    await damage([['resources', 'namespaces/default']]);
    expect(await setAside()).to.deep.equal([]);
  });

  it('are searched by the next start when another command has written the store', async () => {
    await fill();
    await damage([['resources', 'namespaces/default']]);
    await use((store) => new DecisionsOn(store).decide((ctx) => ctx.put('meta', 'n', 1)));
    expect(isUnchangedSinceCleanStop(directory())).to.equal(false);
  });

  it('are not searched after a clean stop of a store without them', async () => {
    await fill();
    await use(() => undefined);
    expect(isUnchangedSinceCleanStop(directory())).to.equal(true);
  });
});
