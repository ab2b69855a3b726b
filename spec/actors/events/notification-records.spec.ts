import { expect } from 'chai';
import {
  recordDenied,
  recordNotification,
  recordRunAhead,
  recordSkipped,
} from '../../../src/actors/events/notification-records.ts';
import { changeStreaks } from '../../../src/actors/events/open-streaks.ts';
import { deleteEvent } from '../../../src/actors/events/delete-event.ts';
import { hasCheck, parseEvent } from '../../../src/resources/event.ts';
import { type CheckState, NO_PREVIOUS_STATE } from '../../../src/rules/check-state.ts';
import { NotificationStore } from '../../../src/store/notification-store.ts';
import type { Notification } from '../../../src/store/records/records.ts';
import { DecisionsOn } from '../../support/decision-on.ts';
import { checkEvent } from '../../support/example-events.ts';
import { CountingStore } from '../../support/counting-store.ts';
import { MemoryStore } from '../../support/memory-store.ts';

const KEY = 'default/web-1/disk';
const ADDRESS = { namespace: 'default', entity: 'web-1', check: 'disk' };
const MAIL = { handler: 'mail' };
const NOT_AN_INCIDENT = 'not an incident';

const run = (
  outcome: Notification['outcome'],
  decidedAtMs: number,
  changes: Partial<Notification> = {},
): Notification => ({
  id: `run-${decidedAtMs}`,
  ...MAIL,
  outcome,
  reason: '',
  status: 0,
  decidedAtMs,
  atMs: decidedAtMs,
  durationMs: 0,
  ...changes,
});

describe('the notifications of an event', () => {
  let store: MemoryStore;
  let decisions: DecisionsOn;

  beforeEach(() => {
    store = new MemoryStore();
    decisions = new DecisionsOn(store);
  });

  const after = async (ms: number, decide: Parameters<DecisionsOn['decide']>[0]): Promise<void> => {
    decisions.nowMs += ms;
    await decisions.decide(decide);
  };

  const denied = (ms: number, reason = NOT_AN_INCIDENT, named: Parameters<typeof recordDenied>[2] = MAIL) =>
    after(ms, (ctx) => {
      changeStreaks(ctx, KEY, (streaks) => {
        recordDenied(ctx, streaks, named, reason);
      });
    });

  /** Stores the event, as its first result does. */
  const stored = () =>
    decisions.decide((ctx) => {
      const event = parseEvent(checkEvent('web-1', 'disk'));
      if (!hasCheck(event)) throw new Error('the example has a check');
      ctx.put('events', KEY, { state: state(), ttl: undefined, event });
    });

  const state = (): CheckState => ({
    ...NO_PREVIOUS_STATE,
    state: 'passing',
    totalStateChange: 0,
    silenced: [],
  });

  it('are read with one look at an event, however many handlers it names that do not exist', async () => {
    const count = 150;
    await stored();
    await after(1, (ctx) => {
      changeStreaks(ctx, KEY, (streaks) => {
        for (let n = 0; n < count; n += 1) recordSkipped(ctx, streaks, { handler: `h${n}` }, 'handler does not exist');
      });
    });
    const counting = new CountingStore(store);
    const notifications = new NotificationStore(counting);
    expect(notifications.search({ namespace: 'default', limit: count }).found).to.have.length(count);
    const keysAndNotifications = 2 * count;
    expect(counting.reads).to.be.within(keysAndNotifications, keysAndNotifications + 10);
  });

  const listed = () =>
    new NotificationStore(store)
      .ofEvent(ADDRESS, 100)
      .map(({ handler, outcome, reason, count = 1 }) => [handler, outcome, reason, count]);

  for (const [what, prepare] of [
    ['with a stored event', () => stored()],
    ['without a stored event', () => Promise.resolve()],
  ] as const) {
    describe(what, () => {
      beforeEach(prepare);

      it('count equal denials in a row in one notification', async () => {
        for (let times = 0; times < 3; times += 1) await denied(1_000);
        expect(listed()).to.deep.equal([['mail', 'denied', NOT_AN_INCIDENT, 3]]);
        const [notification] = new NotificationStore(store).ofEvent(ADDRESS, 1);
        expect(notification?.decidedAtMs).to.equal(1_700_000_001_000);
        expect(notification?.atMs).to.equal(1_700_000_003_000);
      });

      it('begin another notification when the reason or the outcome changes', async () => {
        await denied(1);
        await denied(1, 'silenced by a');
        await after(1, (ctx) => {
          changeStreaks(ctx, KEY, (streaks) => {
            recordSkipped(ctx, streaks, MAIL, 'silenced by a');
          });
        });
        await denied(1);
        expect(listed()).to.deep.equal([
          ['mail', 'denied', NOT_AN_INCIDENT, 1],
          ['mail', 'denied', 'silenced by a', 1],
          ['mail', 'skipped', 'silenced by a', 1],
          ['mail', 'denied', NOT_AN_INCIDENT, 1],
        ]);
      });

      it('count each handler and each workflow by itself', async () => {
        const workflow = { handler: 'mail', pipeline: 'ops', workflow: 'first' };
        for (const named of [MAIL, workflow, MAIL, { handler: 'page' }, workflow, MAIL]) {
          await denied(1, NOT_AN_INCIDENT, named);
        }
        expect(listed()).to.deep.equal([
          ['mail', 'denied', NOT_AN_INCIDENT, 3],
          ['mail', 'denied', NOT_AN_INCIDENT, 2],
          ['page', 'denied', NOT_AN_INCIDENT, 1],
        ]);
      });

      it('count two workflows of one name and one handler by themselves', async () => {
        const first = { handler: 'mail', pipeline: 'ops', workflow: 'same' };
        const second = { ...first, nth: 2 };
        for (let times = 0; times < 3; times += 1) {
          await denied(1, 'a: false', first);
          await denied(1, 'b: false', second);
        }
        expect(listed()).to.deep.equal([
          ['mail', 'denied', 'a: false', 3],
          ['mail', 'denied', 'b: false', 3],
        ]);
        await after(1, (ctx) => {
          changeStreaks(ctx, KEY, (streaks) => {
            recordRunAhead(ctx, streaks, second);
          });
        });
        await denied(1, 'a: false', first);
        await denied(1, 'b: false', second);
        expect(listed().map(([, , , count]) => count)).to.deep.equal([4, 3, 1]);
      });

      it('count handlers that are left out together as long as they are the same ones', async () => {
        const left = (...others: string[]) =>
          after(1, (ctx) => {
            changeStreaks(ctx, KEY, (streaks) => {
              recordSkipped(ctx, streaks, { handler: 'mail', others }, 'too many');
            });
          });
        for (const others of [['a', 'b'], ['a', 'b'], ['a', 'c'], ['a'], [], []]) await left(...others);
        expect(listed().map(([, , , count]) => count)).to.deep.equal([2, 1, 1, 2]);
        const search = new NotificationStore(store);
        const found = (handler: string) => search.search({ namespace: 'default', handler, limit: 10 }).found.length;
        expect(['mail', 'a', 'b', 'c', 'd'].map(found)).to.deep.equal([4, 3, 1, 1, 0]);
        const { before } = search.around(ADDRESS, decisions.nowMs, 10, 'c');
        expect(before.map(({ others }) => others)).to.deep.equal([['a', 'c']]);
      });

      it('count the denials before and after the decision to run in different notifications', async () => {
        await denied(1);
        await denied(1);
        await after(1, (ctx) => {
          changeStreaks(ctx, KEY, (streaks) => {
            recordRunAhead(ctx, streaks, MAIL);
          });
        });
        const decidedAtMs = decisions.nowMs;
        await denied(1);
        await after(1, (ctx) => {
          recordNotification(ctx, KEY, run('handled', decidedAtMs));
        });
        await denied(1);
        expect(listed()).to.deep.equal([
          ['mail', 'denied', NOT_AN_INCIDENT, 2],
          ['mail', 'denied', NOT_AN_INCIDENT, 2],
          ['mail', 'handled', '', 1],
        ]);
      });

      it('end a streak with a run that was decided after it began', async () => {
        await denied(1);
        const decidedAtMs = decisions.nowMs + 1;
        await after(2, (ctx) => {
          recordNotification(ctx, KEY, run('failed', decidedAtMs));
        });
        await denied(1);
        expect(listed().map(([, outcome, , count]) => [outcome, count])).to.deep.equal([
          ['denied', 1],
          ['failed', 1],
          ['denied', 1],
        ]);
      });

      it('end a streak of earlier events that the pipeline denied after the run was decided', async () => {
        await prepare();
        decisions.nowMs = 1_000;
        for (const [outcome, decidedAtMs] of [
          ['denied', 100],
          ['handled', 200],
          ['denied', 300],
        ] as const) {
          const reason = outcome === 'denied' ? 'f: x was false' : '';
          await after(10, (ctx) => {
            recordNotification(ctx, KEY, run(outcome, decidedAtMs, { reason }));
          });
        }
        expect(listed()).to.deep.equal([
          ['mail', 'denied', 'f: x was false', 1],
          ['mail', 'handled', '', 1],
          ['mail', 'denied', 'f: x was false', 1],
        ]);
      });

      it('count denials that the pipeline decided with those of the decision', async () => {
        await denied(1);
        await after(1, (ctx) => {
          recordNotification(ctx, KEY, run('denied', decisions.nowMs, { reason: NOT_AN_INCIDENT }));
        });
        expect(listed()).to.deep.equal([['mail', 'denied', NOT_AN_INCIDENT, 2]]);
      });

      it('count more handlers than fit into the record of an event', async () => {
        const names = Array.from({ length: 100 }, (_, n) => `h${n}`);
        for (let times = 0; times < 3; times += 1) {
          await after(1, (ctx) => {
            changeStreaks(ctx, KEY, (streaks) => {
              for (const handler of names) recordDenied(ctx, streaks, { handler }, NOT_AN_INCIDENT);
            });
          });
        }
        await after(1, (ctx) => {
          changeStreaks(ctx, KEY, (streaks) => {
            for (const handler of names.slice(5)) recordRunAhead(ctx, streaks, { handler });
          });
        });
        await denied(1, NOT_AN_INCIDENT, { handler: 'h0' });
        const counts = new Map(
          new NotificationStore(store).ofEvent(ADDRESS, 1_000).map((one) => [one.handler, one.count]),
        );
        expect([...counts.keys()].sort()).to.deep.equal([...names].sort());
        for (const name of names) expect(counts.get(name), name).to.equal(name === 'h0' ? 4 : 3);
      });

      it('keep the number of outcomes when the event is deleted', async () => {
        await denied(1);
        await denied(1);
        await after(1, (ctx) => {
          deleteEvent(ctx, KEY, 'event.deleted');
        });
        await stored();
        await denied(1);
        expect(listed().reduce((sum, [, , , count]) => sum + Number(count), 0)).to.equal(3);
      });
    });
  }

  it('cost no write beside that of the event while a streak continues', async () => {
    await stored();
    await denied(1);
    decisions.nowMs += 1;
    let tables: string[] = [];
    await decisions.decide((ctx) => {
      changeStreaks(ctx, KEY, (streaks) => {
        recordDenied(ctx, streaks, MAIL, NOT_AN_INCIDENT);
      });
      tables = ctx.decision.puts.map(({ table }) => table);
    });
    expect(tables).to.deep.equal(['events']);
  });

  it('are found by their id, also while they are counted', async () => {
    await denied(1);
    const [first] = new NotificationStore(store).ofEvent(ADDRESS, 1);
    await denied(1);
    const found = new NotificationStore(store).get('default', first?.id ?? '');
    expect(found?.notification.count).to.equal(2);
    expect(new NotificationStore(store).get('other', first?.id ?? '')).to.equal(undefined);
  });

  it('are in the order in which they were recorded, also after the clock was set back', async () => {
    await denied(1, 'a');
    await denied(-3_600_000, 'b');
    await denied(1, 'c');
    expect(listed().map(([, , reason]) => reason)).to.deep.equal(['a', 'b', 'c']);
  });

  it('have reasons of at most 1,000 characters', async () => {
    await denied(1, 'x'.repeat(5_000));
    expect(String(listed()[0]?.[2])).to.have.lengthOf(1_000);
  });
});
