import { expect } from 'chai';
import fc from 'fast-check';
import { type EventFrom, initialTransition, type SnapshotFrom, transition } from 'xstate';
import { getShortestPaths } from 'xstate/graph';
import { checkTtlMachine, ttlDeadlineAtMs } from '../../src/machines/check-ttl.ts';
import { restored } from './restored.ts';

type Ttl = SnapshotFrom<typeof checkTtlMachine>;
type TtlEvent = EventFrom<typeof checkTtlMachine>;
type Reached = Extract<TtlEvent, { type: 'deadline.reached' }>;

const KEY = 'default/web-01/disk';
const TTL_MS = 60_000;

function reached(deadlineAtMs: number, elapsedMs: number, changes: Partial<Reached> = {}): Reached {
  const world = { entityExists: true, eventExists: true, keepaliveStatus: 0 };
  return { type: 'deadline.reached', deadlineAtMs, elapsedMs, graceMs: 0, ...world, ...changes };
}

const result = (atMs: number, ttlMs = TTL_MS, alertStatus = 1): TtlEvent => ({
  type: 'result.received',
  ttlMs,
  alertStatus,
  atMs,
});

/** An actor armed by a result at time 0. */
function after(events: TtlEvent[], alertStatus = 1): { ttl: Ttl; effects: string[] } {
  let [ttl, actions] = initialTransition(checkTtlMachine, { key: KEY, ttlMs: TTL_MS, alertStatus, atMs: 0 });
  for (const event of events) [ttl, actions] = transition(checkTtlMachine, ttl, event);
  return { ttl, effects: actions.map(({ type }) => type) };
}

describe('a check TTL', () => {
  it('is armed by the result that creates it', () => {
    const { ttl, effects } = after([]);
    expect(ttl.value).to.equal('registered');
    expect(ttlDeadlineAtMs(ttl.context)).to.equal(TTL_MS);
    expect(effects).to.deep.equal(['setDeadline']);
  });

  it('expires once per ttl until a result arrives', () => {
    const first = after([reached(60_000, 60_000)]);
    expect(first.ttl.value).to.equal('warning');
    expect(first.effects).to.deep.equal(['setDeadline', 'publishExpiry']);
    const second = after([reached(60_000, 60_000), reached(120_000, 120_000)]);
    expect(second.effects).to.deep.equal(['setDeadline', 'publishExpiry']);
    expect(ttlDeadlineAtMs(second.ttl.context)).to.equal(180_000);
    const again = after([reached(60_000, 60_000), result(70_000)]);
    expect(again.ttl.value).to.equal('registered');
    expect(ttlDeadlineAtMs(again.ttl.context)).to.equal(130_000);
  });

  it('is critical when the check configures a higher status', () => {
    expect(after([reached(60_000, 60_000)], 2).ttl.value).to.equal('critical');
  });

  it('uses the ttl of the newest result at once', () => {
    const { ttl } = after([result(2_000, 300_000)]);
    expect(ttlDeadlineAtMs(ttl.context)).to.equal(302_000);
  });

  const disarmed: [string, TtlEvent][] = [
    ['a result without ttl', result(1_000, 0)],
    ['the deletion of its event', { type: 'event.deleted' }],
    ['the deletion of its entity', { type: 'entity.deleted' }],
    ['the deletion of its check', { type: 'check.deleted' }],
    ['an expiry when the entity is gone', reached(60_000, 60_000, { entityExists: false })],
    ['an expiry when the event is gone', reached(60_000, 60_000, { eventExists: false })],
    ['an expiry while the agent itself is missing', reached(60_000, 60_000, { keepaliveStatus: 1 })],
  ];
  for (const [what, event] of disarmed) {
    it(`is disarmed without an alert by ${what}`, () => {
      const { ttl, effects } = after([event]);
      expect([ttl.value, ttl.status]).to.deep.equal(['deregistered', 'done']);
      expect(effects).to.deep.equal(['clearDeadline']);
    });
  }

  it('reaches all its states', () => {
    const events = [reached(60_000, 60_000), result(0, TTL_MS, 2), { type: 'event.deleted' }] satisfies TtlEvent[];
    const states = [1, 2].flatMap((alertStatus) =>
      getShortestPaths(checkTtlMachine, {
        fromState: after([], alertStatus).ttl,
        events,
        serializeState: ({ value }) => value,
      }).map(({ state }) => state.value),
    );
    expect([...new Set(states)].sort()).to.deep.equal(Object.keys(checkTtlMachine.states).sort());
  });
});

describe('the invariants of a check TTL', () => {
  const steps = fc.array(
    fc.record({
      afterMs: fc.nat({ max: 200_000 }),
      what: fc.constantFrom('result', 'due', 'void'),
      ttlMs: fc.integer({ min: 5_000, max: 120_000 }),
      alertStatus: fc.constantFrom(1, 2),
    }),
    { maxLength: 30 },
  );

  it('the deadline is the last result plus a whole number of ttls, and an outdated one changes nothing', () => {
    fc.assert(
      fc.property(steps, (list) => {
        let atMs = 0;
        let [ttl] = initialTransition(checkTtlMachine, { key: KEY, ttlMs: TTL_MS, alertStatus: 1, atMs });
        let last = { atMs, ttlMs: TTL_MS };
        for (const { afterMs, what, ttlMs, alertStatus } of list) {
          atMs += afterMs;
          const armedAtMs = ttlDeadlineAtMs(ttl.context);
          if (what === 'due') atMs = Math.max(atMs, armedAtMs);
          const event =
            what === 'result'
              ? result(atMs, ttlMs, alertStatus)
              : reached(what === 'due' ? armedAtMs : armedAtMs + 1, atMs - last.atMs);
          if (what === 'result') last = { atMs, ttlMs };
          const [now, actions] = transition(checkTtlMachine, ttl, event);
          if (what === 'void') expect([now.value, now.context, actions]).to.deep.equal([ttl.value, ttl.context, []]);
          const nextMs = ttlDeadlineAtMs(now.context);
          expect((nextMs - last.atMs) % last.ttlMs).to.equal(0);
          expect(nextMs).to.be.greaterThan(last.atMs);
          if (what !== 'void') expect(nextMs).to.be.within(atMs + 1, atMs + last.ttlMs);
          ttl = now;
        }
      }),
    );
  });
});

describe('the snapshot of a check TTL', () => {
  it('continues in the stored state', () => {
    const { ttl } = after([reached(60_000, 60_000)]);
    const again = restored(checkTtlMachine, ttl.value, ttl.context);
    const [next, actions] = transition(checkTtlMachine, again, reached(120_000, 120_000));
    expect(next.value).to.equal('warning');
    expect(actions.map(({ type }) => type)).to.deep.equal(['setDeadline', 'publishExpiry']);
  });

  it('with a state that no longer exists starts in status error', () => {
    const again = restored(checkTtlMachine, 'unheard-of', after([]).ttl.context);
    expect(again.status).to.equal('error');
  });
});
