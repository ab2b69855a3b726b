import { expect } from 'chai';
import fc from 'fast-check';
import { type EventFrom, initialTransition, type SnapshotFrom, transition } from 'xstate';
import { getShortestPaths } from 'xstate/graph';
import { entityMachine, keepaliveDeadlineAtMs } from '../../src/machines/entity.ts';
import { nextTickMs } from '../../src/rules/keepalive-ticks.ts';
import { restored } from './restored.ts';
import { leavesOf, pathOf } from './state-paths.ts';

type Entity = SnapshotFrom<typeof entityMachine>;
type EntityEvent = EventFrom<typeof entityMachine>;

const KEY = 'default/web-01';
const TIMEOUTS = { warningMs: 5_000, criticalMs: 8_000, intervalMs: 2_000 };

const keepalive = (atMs: number, timeouts = TIMEOUTS): EntityEvent => ({
  type: 'keepalive.received',
  atMs,
  ...timeouts,
});

/** The armed deadline, reached without blind time by default. */
function reached(
  deadlineAtMs: number,
  elapsedMs: number,
  keepaliveEventExists = true,
  deregister = false,
): EntityEvent {
  return { type: 'deadline.reached', deadlineAtMs, elapsedMs, graceMs: 0, keepaliveEventExists, deregister };
}

function after(...events: EntityEvent[]): { entity: Entity; effects: string[] } {
  let [entity, actions] = initialTransition(entityMachine, { key: KEY });
  for (const event of events) [entity, actions] = transition(entityMachine, entity, event);
  return { entity, effects: actions.map(({ type }) => type) };
}

const stop = (atMs: number, deregister = true): EntityEvent => ({ type: 'stop.announced', atMs, deregister });

describe('the actor of an entity', () => {
  it('starts registered and unmonitored', () => {
    const { entity, effects } = after();
    expect(pathOf(entity.value)).to.equal('registered.unmonitored');
    expect(keepaliveDeadlineAtMs(entity.context)).to.equal(undefined);
    expect(effects).to.deep.equal([]);
  });

  it('arms the first tick after a keepalive', () => {
    const { entity, effects } = after(keepalive(1_000));
    expect(pathOf(entity.value)).to.equal('registered.monitored');
    expect(keepaliveDeadlineAtMs(entity.context)).to.equal(6_000);
    expect(effects).to.deep.equal(['setDeadline']);
  });

  const ticks: [string, EntityEvent[], string, number][] = [
    ['the warning timeout', [reached(5_000, 5_000)], 'warning', 8_000],
    ['the critical timeout', [reached(5_000, 5_000), reached(8_000, 8_000)], 'critical', 10_000],
    ['the tick after it', [reached(5_000, 5_000), reached(8_000, 8_000), reached(10_000, 10_000)], 'critical', 15_000],
    ['a warning timeout that comes late', [reached(5_000, 9_000)], 'critical', 10_000],
    ['a moment after the warning timeout', [reached(5_000, 5_250)], 'warning', 8_000],
  ];
  for (const [what, events, state, nextMs] of ticks) {
    it(`is ${state} after ${what}, with the next tick at ${nextMs} ms`, () => {
      const { entity, effects } = after(keepalive(0), ...events);
      expect(entity.value).to.equal(state);
      expect(keepaliveDeadlineAtMs(entity.context)).to.equal(nextMs);
      expect(effects).to.deep.equal(['setDeadline', 'publishAlert']);
    });
  }

  it('never becomes critical without a critical timeout', () => {
    const timeouts = { warningMs: 5_000, criticalMs: 0, intervalMs: 2_000 };
    const { entity } = after(keepalive(0, timeouts), reached(5_000, 5_000), reached(10_000, 100_000));
    expect(entity.value).to.equal('warning');
  });

  it('has no warning stage without a warning timeout', () => {
    const { entity } = after(
      keepalive(0, { warningMs: 0, criticalMs: 8_000, intervalMs: 2_000 }),
      reached(8_000, 8_000),
    );
    expect(entity.value).to.equal('critical');
  });

  it('is registered again with the next keepalive, whose timeouts apply at once', () => {
    const { entity } = after(
      keepalive(0),
      reached(5_000, 5_000),
      keepalive(9_000, { warningMs: 20_000, criticalMs: 30_000, intervalMs: 2_000 }),
    );
    expect(pathOf(entity.value)).to.equal('registered.monitored');
    expect(keepaliveDeadlineAtMs(entity.context)).to.equal(29_000);
  });

  it('is unmonitored when its keepalive event is missing or deleted', () => {
    for (const event of [reached(5_000, 5_000, false), { type: 'keepalive.deleted' } as const]) {
      const { entity, effects } = after(keepalive(0), event);
      expect(pathOf(entity.value)).to.equal('registered.unmonitored');
      expect(keepaliveDeadlineAtMs(entity.context)).to.equal(undefined);
      expect(effects).to.deep.equal(['clearDeadline']);
    }
  });

  it('waits 0.9 s for a restart after an announced stop, and is then deregistered without an alert', () => {
    const leaving = after(keepalive(0), stop(2_000));
    expect(pathOf(leaving.entity.value)).to.equal('registered.leaving');
    expect(keepaliveDeadlineAtMs(leaving.entity.context)).to.equal(2_900);
    expect(leaving.effects).to.deep.equal(['setDeadline']);
    const { entity, effects } = after(keepalive(0), stop(2_000), reached(2_900, 900));
    expect([entity.value, entity.status]).to.deep.equal(['deregistered', 'done']);
    expect(effects).to.deep.equal(['deregister', 'clearDeadline']);
  });

  it('is monitored as before when the agent restarts in time', () => {
    const { entity } = after(keepalive(0), stop(2_000), keepalive(2_500), reached(2_900, 400));
    expect(pathOf(entity.value)).to.equal('registered.monitored');
    expect(keepaliveDeadlineAtMs(entity.context)).to.equal(7_500);
  });

  it('ignores an announced stop if it is not to be deregistered', () => {
    const { entity, effects } = after(keepalive(0), stop(2_000, false));
    expect(pathOf(entity.value)).to.equal('registered.monitored');
    expect(effects).to.deep.equal([]);
  });

  it('ends when the entity is deleted', () => {
    const { entity, effects } = after(keepalive(0), { type: 'entity.deleted' });
    expect([entity.value, entity.status]).to.deep.equal(['deregistered', 'done']);
    expect(effects).to.deep.equal(['clearDeadline']);
  });

  it('reaches all its states', () => {
    const events = [
      reached(5_000, 5_000),
      reached(8_000, 8_000),
      stop(2_000),
      { type: 'keepalive.deleted' },
      { type: 'entity.deleted' },
    ] satisfies EntityEvent[];
    const paths = getShortestPaths(entityMachine, {
      fromState: after(keepalive(0)).entity,
      events,
      serializeState: ({ value }) => pathOf(value),
    });
    const states = new Set(paths.map(({ state }) => pathOf(state.value)));
    expect([...states].sort()).to.deep.equal(leavesOf(entityMachine));
  });
});

describe('the invariants of an entity', () => {
  const timeouts = fc
    .record({
      warningMs: fc.constantFrom(0, 5_000, 7_000, 120_000),
      criticalMs: fc.constantFrom(0, 5_000, 8_000, 240_000),
      intervalMs: fc.constant(2_000),
    })
    .filter(({ warningMs, criticalMs }) => warningMs + criticalMs > 0);
  /** Steps with the time that passes before each; an alarm is for the armed deadline or for another one. */
  const steps = fc.array(
    fc.record({
      afterMs: fc.nat({ max: 30_000 }),
      what: fc.constantFrom('keepalive', 'due', 'void', 'deleted'),
      timeouts,
    }),
    { maxLength: 30 },
  );

  /** Sends the events of the steps and calls `check` with each event and the snapshots before and after it. */
  function play(
    list: typeof steps extends fc.Arbitrary<infer T> ? T : never,
    check: (before: Entity, event: EntityEvent, now: Entity, effects: string[]) => void,
  ): void {
    let atMs = 1_000_000;
    let [entity] = initialTransition(entityMachine, { key: KEY });
    for (const step of list) {
      atMs += step.afterMs;
      const armedAtMs = keepaliveDeadlineAtMs(entity.context);
      if (step.what === 'due' && armedAtMs === undefined) continue;
      if (step.what === 'due') atMs = Math.max(atMs, armedAtMs ?? 0);
      const elapsedMs = atMs - entity.context.lastReceivedAtMs;
      const event: EntityEvent =
        step.what === 'keepalive'
          ? keepalive(atMs, step.timeouts)
          : step.what === 'deleted'
            ? { type: 'keepalive.deleted' }
            : reached(step.what === 'due' ? (armedAtMs ?? 0) : (armedAtMs ?? 0) + 1, elapsedMs);
      const [now, actions] = transition(entityMachine, entity, event);
      check(
        entity,
        event,
        now,
        actions.map(({ type }) => type),
      );
      entity = now;
    }
  }

  it('any keepalive leaves it monitored with the first tick armed', () => {
    fc.assert(
      fc.property(steps, (list) => {
        play(list, (_, event, now) => {
          if (event.type !== 'keepalive.received') return;
          expect(pathOf(now.value)).to.equal('registered.monitored');
          expect(now.context.lastReceivedAtMs).to.equal(event.atMs);
          expect(now.context.tickMs).to.equal(nextTickMs(0, event));
        });
      }),
    );
  });

  it('an outdated deadline changes nothing', () => {
    fc.assert(
      fc.property(steps, (list) => {
        play(list, (before, event, now, effects) => {
          if (event.type !== 'deadline.reached') return;
          if (event.deadlineAtMs === keepaliveDeadlineAtMs(before.context)) return;
          expect([now.value, now.context, effects]).to.deep.equal([before.value, before.context, []]);
        });
      }),
    );
  });

  it('an armed deadline always alerts, critical from the critical timeout on, and the next one is later', () => {
    fc.assert(
      fc.property(steps, (list) => {
        play(list, (before, event, now, effects) => {
          if (event.type !== 'deadline.reached') return;
          if (event.deadlineAtMs !== keepaliveDeadlineAtMs(before.context)) return;
          const { criticalMs } = before.context;
          const isCritical = criticalMs > 0 && event.elapsedMs >= criticalMs;
          expect(now.value).to.equal(isCritical ? 'critical' : 'warning');
          expect(effects).to.deep.equal(['setDeadline', 'publishAlert']);
          expect(now.context.tickMs).to.be.greaterThan(event.elapsedMs);
        });
      }),
    );
  });
});

describe('the snapshot of an entity', () => {
  it('continues in the stored state', () => {
    const { entity } = after(keepalive(0), reached(5_000, 5_000));
    const again = restored(entityMachine, entity.value, entity.context);
    const [next] = transition(entityMachine, again, reached(8_000, 8_000));
    expect(next.value).to.equal('critical');
  });

  it('with a state that no longer exists starts in status error', () => {
    const { entity } = after(keepalive(0));
    const again = restored(entityMachine, 'unheard-of', entity.context);
    expect(again.status).to.equal('error');
  });
});

describe('an entity that is deregistered with its agent', () => {
  it('is deregistered at the first tick, without an alert', () => {
    const { entity, effects } = after(keepalive(0), reached(5_000, 5_000, true, true));
    expect(entity.value).to.equal('deregistered');
    expect(effects).to.include('deregister');
    expect(effects).to.not.include('publishAlert');
  });

  it('is deregistered at a later tick if this was requested in the meantime', () => {
    const { entity } = after(keepalive(0), reached(5_000, 5_000), reached(8_000, 8_000, true, true));
    expect(entity.value).to.equal('deregistered');
  });
});
