import { expect } from 'chai';
import {
  hideNotifications,
  recordDenied,
  recordNotification,
} from '../../../src/actors/events/notification-records.ts';
import { changeStreaks } from '../../../src/actors/events/open-streaks.ts';
import { settle } from '../../../src/actors/events/settle-notification.ts';
import { type KeptBounds, NotificationRetention } from '../../../src/actors/supervision/notification-retention.ts';
import { MAX_KEPT_OF_EVENT } from '../../../src/actors/supervision/notification-sweep.ts';
import type { Decider } from '../../../src/actors/core/decider.ts';
import { hasCheck, parseEvent } from '../../../src/resources/event.ts';
import { NO_PREVIOUS_STATE } from '../../../src/rules/check-state.ts';
import { eventAddress, resourceKey } from '../../../src/store/encoding/keyspace.ts';
import { NotificationStore } from '../../../src/store/notification-store.ts';
import type { Notification, TableName } from '../../../src/store/records/records.ts';
import { DecisionsOn } from '../../support/decision-on.ts';
import { checkEvent } from '../../support/example-events.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { RecordedLog } from '../../support/recorded-log.ts';

const START_MS = 1_700_000_000_000;
const DAY_MS = 86_400_000;
const KEY = 'default/web-1/disk';

describe('the retention of notifications', () => {
  let store: MemoryStore;
  let decisions: DecisionsOn;
  let clock: ManualClock;
  let log: RecordedLog;
  let retention: NotificationRetention;

  beforeEach(async () => {
    store = new MemoryStore();
    clock = new ManualClock(START_MS);
    log = new RecordedLog();
    decisions = new DecisionsOn(store);
    await decisions.decide((ctx) => {
      ctx.put('resources', resourceKey('namespaces', undefined, 'default'), { name: 'default' });
    });
  });

  afterEach(() => {
    retention.stop();
  });

  /** Starts it, and lets time pass until everything was swept. The first `failures` decisions are lost. */
  async function sweep(bounds: Partial<KeptBounds> = {}, failures = 0): Promise<void> {
    let decided = 0;
    const decide = ((_: unknown, run: Parameters<DecisionsOn['decide']>[0]) => {
      decided += 1;
      if (decided <= failures) return { durable: Promise.reject(new Error('the store cannot be written')) };
      decisions.nowMs = clock.nowMs();
      return { durable: decisions.decide(run) };
    }) as unknown as Decider['decide'];
    retention = new NotificationRetention({ store, decider: { decide }, clock, log, retentionMs: 7 * DAY_MS, bounds });
    retention.start();
    await clock.advance(60_000);
  }

  async function at(ms: number, run: Parameters<DecisionsOn['decide']>[0]): Promise<void> {
    decisions.nowMs = START_MS + ms;
    await decisions.decide(run);
  }

  const handled = (key: string, ms: number, changes: Partial<Notification> = {}) =>
    at(ms, (ctx) => {
      const atMs = START_MS + ms;
      const times = { decidedAtMs: atMs, atMs, durationMs: 0 };
      const notification = { id: `${key} ${ms}`, handler: 'h', reason: '', status: 0, ...times };
      recordNotification(ctx, key, { ...notification, outcome: 'handled', ...changes });
    });

  const denied = (key: string, ms: number) =>
    at(ms, (ctx) => {
      changeStreaks(ctx, key, (streaks) => {
        recordDenied(ctx, streaks, { handler: 'h' }, 'not an incident');
      });
    });

  const stored = (key: string) =>
    at(0, (ctx) => {
      const event = parseEvent(checkEvent('web-1', 'disk'));
      if (!hasCheck(event)) throw new Error('the example has a check');
      const merged = { state: 'passing' as const, totalStateChange: 0, silenced: [] };
      ctx.put('events', key, { state: { ...NO_PREVIOUS_STATE, ...merged }, ttl: undefined, event });
    });

  const floors = () => [...store.keys('meta', { from: 'notification-floor/', to: 'notification-floor0' })];
  const keyOf = (table: TableName, part: string): string =>
    [...store.keys(table, { from: '', to: '~' })].find((key) => key.includes(part)) ??
    expect.fail(`no key has ${part}`);
  const left = (key: string): number => new NotificationStore(store).ofEvent(eventAddress(key), 5_000).length;
  const sizes = () =>
    (['notificationLog', 'notificationsByEvent', 'notificationsById', 'openStreaks', 'deadLetters'] as const).map(
      (table) => store.tableSize(table).entries,
    );

  it('keeps the last 20 of an existing event, and newer ones', async () => {
    await stored(KEY);
    for (let n = 0; n < 30; n += 1) await handled(KEY, n);
    for (let n = 0; n < 5; n += 1) await handled(KEY, 5 * DAY_MS + n);
    await clock.advance(8 * DAY_MS);
    await sweep();
    expect(left(KEY)).to.equal(20);
    expect(sizes()).to.deep.equal([20, 20, 20, 0, 0]);
  });

  it('keeps nothing old of an event that does not exist', async () => {
    for (let n = 0; n < 5; n += 1) await handled(KEY, n);
    await denied('default/web-1/', 5);
    await handled(KEY, 5 * DAY_MS);
    await clock.advance(8 * DAY_MS);
    await sweep();
    expect(left(KEY)).to.equal(1);
    expect(sizes()).to.deep.equal([1, 1, 1, 0, 0]);
  });

  it('keeps a notification that is still counted, however old its first outcome is', async () => {
    for (let day = 0; day < 8; day += 1) await denied(KEY, day * DAY_MS);
    await clock.advance(8 * DAY_MS);
    await sweep();
    expect(left(KEY)).to.equal(1);
  });

  it('keeps at most a thousand of one event', async () => {
    await at(0, (ctx) => {
      const times = { decidedAtMs: START_MS, atMs: START_MS, durationMs: 0 };
      for (let n = 0; n < MAX_KEPT_OF_EVENT + 500; n += 1) {
        const notification = { id: String(n), handler: 'h', reason: '', status: 0, ...times };
        recordNotification(ctx, KEY, { ...notification, outcome: 'handled' });
      }
    });
    await sweep();
    expect(left(KEY)).to.equal(MAX_KEPT_OF_EVENT);
  });

  it('decides nothing while there is nothing to remove', async () => {
    await stored(KEY);
    await handled(KEY, 0);
    await denied('default/web-1/', 0);
    const { writes } = store;
    await sweep();
    expect(store.writes).to.equal(writes);
  });

  it('removes everything of a deleted namespace', async () => {
    await handled('gone/web-1/disk', 0);
    await denied('gone/web-1/', 0);
    await handled(KEY, 0);
    await sweep();
    expect([left('gone/web-1/disk'), left('gone/web-1/'), left(KEY)]).to.deep.equal([0, 0, 1]);
    expect(sizes()).to.deep.equal([1, 1, 1, 0, 0]);
  });

  it('removes what an earlier namespace of the same name has, which is hidden before', async () => {
    await handled(KEY, 0);
    await at(1, (ctx) => {
      hideNotifications(ctx, 'default');
    });
    await handled(KEY, 2);
    expect([left(KEY), sizes()[0]]).to.deep.equal([1, 2]);
    await sweep();
    expect([left(KEY), sizes()[0]]).to.deep.equal([1, 1]);
    expect(floors()).to.deep.equal([]);
  });

  it('removes what it can when records are damaged, and hides the others until they are gone', async () => {
    for (const n of [0, 1, 2]) await handled(`default/web-${n}/disk`, n);
    await denied('default/web-1/', 3);
    await at(4, (ctx) => {
      hideNotifications(ctx, 'default');
    });
    const logKey = keyOf('notificationLog', '/web-1/disk');
    store.damaged.add(`notificationLog/${logKey}`);
    store.damaged.add('openStreaks/default/web-1/');
    await sweep();
    expect(sizes()).to.deep.equal([1, 1, 1, 1, 0]);
    expect(floors()).to.have.length(1);
    const errors = log.lines.filter(({ level }) => level === 'error');
    expect(errors.map(({ msg }) => msg)).to.deep.equal([
      'old notifications are not removed, because records are damaged; the next start sets them aside',
    ]);
    store.damaged.clear();
    await clock.advance(60_000);
    expect([sizes()[0], floors()]).to.deep.equal([0, []]);
  });

  it('removes what an earlier namespace of the same name has although a step was lost', async () => {
    for (let n = 0; n < 1_200; n += 1) await handled(`default/web-${n}/disk`, 0);
    await at(1, (ctx) => {
      hideNotifications(ctx, 'default');
    });
    await sweep({}, 1);
    expect(sizes()[0]).to.equal(0);
    expect(floors()).to.deep.equal([]);
  });

  it('is shortened while all together are too many, which is counted and logged', async () => {
    for (let day = 0; day < 7; day += 1) {
      for (let n = 0; n < 40; n += 1) await handled(`default/web-1/c${n}`, day * DAY_MS + n);
    }
    await clock.advance(6.5 * DAY_MS);
    const notificationBytes = 40_000;
    expect(store.tableSize('notificationLog').bytes).to.be.above(notificationBytes);
    await sweep({ notificationBytes });
    await clock.advance(600_000);
    expect(retention.notificationBytes.used).to.be.within(1, notificationBytes);
    expect(retention.notificationBytes.dropped).to.equal(280 - Number(sizes()[0]));
    expect(log.lines.map(({ level, msg }) => [level, msg])).to.deep.include([
      'warn',
      'too many notifications are stored, older ones are removed before their time',
    ]);
  });

  it('drops the oldest dead letters when there are too many, which is counted and logged', async () => {
    const event = parseEvent(checkEvent('web-1', 'disk'));
    for (let n = 0; n < 10; n += 1) {
      await at(n, (ctx) => {
        const id = `letter-${n}`;
        const atMs = START_MS + n;
        const entry = { notificationId: id, namespace: 'default', handler: 'h', key: KEY, event, decidedAtMs: atMs };
        const times = { decidedAtMs: atMs, atMs, durationMs: 0 };
        const notification = {
          id,
          handler: 'h',
          outcome: 'failed',
          reason: '',
          status: 1,
          isDeadLetter: true,
        } as const;
        settle(ctx, { outboxKey: String(n), key: KEY, notification: { ...notification, ...times }, entry });
      });
    }
    await sweep({ deadLetters: 4 });
    const letters = new NotificationStore(store).ofEvent(eventAddress(KEY), 100).filter((one) => one.isDeadLetter);
    expect(letters.map(({ id }) => id)).to.deep.equal(['letter-6', 'letter-7', 'letter-8', 'letter-9']);
    expect(retention.deadLetters).to.deep.equal({ used: 4, limit: 4, dropped: 6 });
    expect(log.lines.map(({ level, msg }) => [level, msg])).to.deep.include([
      'warn',
      'too many dead letters, dropping the oldest',
    ]);
  });
});
