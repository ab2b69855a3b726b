import { expect } from 'chai';
import fc from 'fast-check';
import { initialTransition, transition } from 'xstate';
import { rebuiltConnection } from '../../src/machines/agent-connection-snapshots.ts';
import { agentConnectionMachine } from '../../src/machines/agent-connection.ts';
import { scheduleSnapshot } from '../../src/machines/check-schedule-snapshots.ts';
import { checkScheduleMachine } from '../../src/machines/check-schedule.ts';
import { rebuiltTtl } from '../../src/machines/check-ttl-snapshots.ts';
import { type CheckTtlContext, checkTtlMachine, ttlDeadlineAtMs } from '../../src/machines/check-ttl.ts';
import { rebuiltEntity } from '../../src/machines/entity-snapshots.ts';
import { type EntityContext, entityMachine, keepaliveDeadlineAtMs } from '../../src/machines/entity.ts';
import { restored } from './restored.ts';
import { pathOf } from './state-paths.ts';

const NOW_MS = 1_800_000_000_000;

describe('a snapshot that is rebuilt from domain data', () => {
  const receivedAtMs = fc.integer({ min: NOW_MS - 20_000_000, max: NOW_MS - 10_000_000 });
  const secondsOf = (ms: number): number => Math.floor(ms / 1_000);

  it('has the state of the entity that the machine had, and a deadline within a second of its own', () => {
    const timeouts = fc
      .record({ warningS: fc.constantFrom(0, 5, 7, 120), criticalS: fc.constantFrom(0, 5, 8, 240) })
      .filter(({ warningS, criticalS }) => warningS + criticalS > 0)
      .map(({ warningS, criticalS }) => ({
        warningMs: warningS * 1_000,
        criticalMs: criticalS * 1_000,
        intervalMs: 2_000,
      }));
    fc.assert(
      fc.property(receivedAtMs, timeouts, fc.nat({ max: 5 }), (atMs, times, alerts) => {
        let [entity] = initialTransition(entityMachine, { key: 'default/web-01' });
        [entity] = transition(entityMachine, entity, { type: 'keepalive.received', atMs, ...times });
        let alert: { status: number; silentS: number; graceMs: number } | undefined;
        for (let n = 0; n < alerts; n += 1) {
          const deadlineAtMs = keepaliveDeadlineAtMs(entity.context) ?? 0;
          const elapsedMs = deadlineAtMs - atMs;
          const world = { graceMs: 0, keepaliveEventExists: true, deregister: false };
          [entity] = transition(entityMachine, entity, { type: 'deadline.reached', deadlineAtMs, elapsedMs, ...world });
          alert = { status: entity.value === 'critical' ? 2 : 1, silentS: secondsOf(elapsedMs), graceMs: 0 };
        }
        const receivedAtS = secondsOf(atMs);
        const { value, context, version } = rebuiltEntity('default/web-01', { ...times, receivedAtS, alert }, NOW_MS);
        expect([value, version]).to.deep.equal([entity.value, entityMachine.version]);
        const differenceMs =
          (keepaliveDeadlineAtMs(context as EntityContext) ?? 0) - (keepaliveDeadlineAtMs(entity.context) ?? 0);
        if (alert === undefined) expect(differenceMs).to.be.within(0, 999);
        else expect(differenceMs).to.be.within(-999, 0);
      }),
    );
  });

  it('restarts the timeouts of an entity when the receipt of its keepalive is not known', () => {
    const times = { warningMs: 5_000, criticalMs: 0, intervalMs: 2_000 };
    const { value, context } = rebuiltEntity('a/b', { ...times, receivedAtS: undefined, alert: undefined }, NOW_MS);
    expect(pathOf(value)).to.equal('registered.monitored');
    expect(keepaliveDeadlineAtMs(context as EntityContext)).to.equal(NOW_MS + 5_000);
  });

  it('leaves an entity without a keepalive unmonitored', () => {
    const { value, context } = rebuiltEntity('a/b', undefined, NOW_MS);
    expect(pathOf(value)).to.equal('registered.unmonitored');
    expect(keepaliveDeadlineAtMs(context as EntityContext)).to.equal(undefined);
  });

  it('has the state of the check TTL that the machine had, and a deadline within two seconds of its own', () => {
    fc.assert(
      fc.property(
        receivedAtMs,
        fc.integer({ min: 5, max: 600 }),
        fc.constantFrom(1, 2),
        fc.integer({ min: 1, max: 5 }),
        fc.nat({ max: 200 }),
        (atMs, ttlS, alertStatus, alerts, lateMs) => {
          const ttlMs = ttlS * 1_000;
          let [ttl] = initialTransition(checkTtlMachine, { key: 'a/b/c', ttlMs, alertStatus, atMs });
          let expiry = { atS: 0, silentS: 0, graceMs: 0 };
          for (let n = 0; n < alerts; n += 1) {
            const deadlineAtMs = ttlDeadlineAtMs(ttl.context);
            const elapsedMs = deadlineAtMs + lateMs - atMs;
            const world = { graceMs: 0, entityExists: true, eventExists: true, keepaliveStatus: 0 };
            [ttl] = transition(checkTtlMachine, ttl, { type: 'deadline.reached', deadlineAtMs, elapsedMs, ...world });
            expiry = { atS: secondsOf(deadlineAtMs + lateMs), silentS: secondsOf(elapsedMs), graceMs: 0 };
          }
          const rebuilt = rebuiltTtl('a/b/c', { ttlMs, alertStatus, expiry }, NOW_MS);
          expect([rebuilt.value, rebuilt.version]).to.deep.equal([ttl.value, checkTtlMachine.version]);
          const deadlineAtMs = ttlDeadlineAtMs(rebuilt.context as CheckTtlContext);
          expect(deadlineAtMs - ttlDeadlineAtMs(ttl.context)).to.be.within(-2_000, 1_000);
        },
      ),
    );
  });

  it('restarts an armed check TTL', () => {
    const { value, context } = rebuiltTtl('a/b/c', { ttlMs: 5_000, alertStatus: 2, expiry: undefined }, NOW_MS);
    expect([value, ttlDeadlineAtMs(context as CheckTtlContext)]).to.deep.equal(['registered', NOW_MS + 5_000]);
  });

  it('makes a connection check its silence at once', () => {
    const { value, context } = rebuiltConnection('session', NOW_MS);
    const connection = restored(agentConnectionMachine, value, context);
    const event = { type: 'deadline.reached', deadlineAtMs: NOW_MS, atMs: NOW_MS, silentMs: 50_000 } as const;
    const [next] = transition(agentConnectionMachine, connection, event);
    expect([next.value, next.context.deadlineAtMs]).to.deep.equal(['warning', NOW_MS + 10_000]);
  });

  it('lets a schedule whose deadline is being decided accept that deadline', () => {
    const { value, context } = scheduleSnapshot('a/b', undefined);
    const schedule = restored(checkScheduleMachine, value, context);
    const event = { type: 'deadline.reached', deadlineAtMs: 7, atMs: 7, nextTickAtMs: 17, skip: undefined } as const;
    const [next, actions] = transition(checkScheduleMachine, schedule, event);
    expect(next.context.nextTickAtMs).to.equal(17);
    expect(actions.map(({ type }) => type)).to.include('requestCheck');
  });
});
