import { expect } from 'chai';
import fc from 'fast-check';
import { type EventFrom, initialTransition, type SnapshotFrom, transition } from 'xstate';
import { getShortestPaths } from 'xstate/graph';
import { checkScheduleMachine } from '../../src/machines/check-schedule.ts';
import { restored } from './restored.ts';

type Schedule = SnapshotFrom<typeof checkScheduleMachine>;
type ScheduleEvent = EventFrom<typeof checkScheduleMachine>;

const INPUT = { key: 'default/disk', intervalMs: 10_000, firstTickAtMs: 7_000 };

const reached = (deadlineAtMs: number, atMs = deadlineAtMs, published = true): ScheduleEvent => ({
  type: 'deadline.reached',
  deadlineAtMs,
  atMs,
  published,
});

function after(...events: ScheduleEvent[]): { schedule: Schedule; effects: string[] } {
  let [schedule, actions] = initialTransition(checkScheduleMachine, INPUT);
  for (const event of events) [schedule, actions] = transition(checkScheduleMachine, schedule, event);
  return { schedule, effects: actions.map(({ type }) => type) };
}

describe('the schedule of a check', () => {
  it('waits for its first tick and asks for nothing at once', () => {
    const { schedule, effects } = after();
    expect(schedule.context.nextTickAtMs).to.equal(7_000);
    expect(effects).to.deep.equal(['setDeadline']);
  });

  it('asks at each tick, one interval apart', () => {
    const { schedule, effects } = after(reached(7_000), reached(17_000));
    expect(effects).to.have.members(['requestCheck', 'setDeadline']);
    expect(schedule.context.nextTickAtMs).to.equal(27_000);
  });

  it('stays on its grid when a tick is late, and makes up for nothing', () => {
    const { schedule, effects } = after(reached(7_000, 38_500));
    expect(effects.filter((effect) => effect === 'requestCheck')).to.have.lengthOf(1);
    expect(schedule.context.nextTickAtMs).to.equal(47_000);
    expect(after(reached(7_000, 17_000)).schedule.context.nextTickAtMs).to.equal(27_000);
  });

  it('asks for nothing while the check is not published, and ticks on', () => {
    const { schedule, effects } = after(reached(7_000, 7_000, false));
    expect(effects).to.deep.equal(['setDeadline']);
    expect(schedule.context.nextTickAtMs).to.equal(17_000);
  });

  it('knows when it asked last and why it last asked nobody, and ticks on as before', () => {
    const sent = (atMs: number, sessions: number): ScheduleEvent => ({ type: 'request.sent', atMs, sessions });
    const contextAfter = (...events: ScheduleEvent[]) => after(...events).schedule.context;
    expect(contextAfter()).to.include({ lastRunAtMs: undefined, lastSkip: undefined });
    expect(contextAfter(reached(7_000), sent(7_000, 2))).to.include({ lastRunAtMs: 7_000, lastSkip: undefined });
    const unheard = contextAfter(reached(7_000), sent(7_000, 1), reached(17_000), sent(17_000, 0));
    expect(unheard).to.deep.include({ lastRunAtMs: 7_000, lastSkip: { atMs: 17_000, reason: 'no agents' } });
    expect(unheard.nextTickAtMs).to.equal(27_000);
    const unpublished = contextAfter(reached(7_000), sent(7_000, 1), reached(17_000, 17_001, false));
    expect(unpublished).to.deep.include({ lastRunAtMs: 7_000, lastSkip: { atMs: 17_001, reason: 'not published' } });
  });

  it('is not changed by a question', () => {
    const before = after(reached(7_000)).schedule;
    const [asked, actions] = transition(checkScheduleMachine, before, { type: 'schedule.asked' });
    expect([asked.context, actions]).to.deep.equal([before.context, []]);
  });

  it('begins a new grid when it is changed; the tick of the old one is void', () => {
    const changed = after({ type: 'schedule.changed', intervalMs: 60_000, firstTickAtMs: 31_000 });
    expect(changed.schedule.context).to.include({ intervalMs: 60_000, nextTickAtMs: 31_000 });
    expect(changed.effects).to.deep.equal(['setDeadline']);
    const [same, actions] = transition(checkScheduleMachine, changed.schedule, reached(7_000));
    expect([same.context, actions]).to.deep.equal([changed.schedule.context, []]);
  });

  it('is over when the check is deleted', () => {
    const { schedule, effects } = after({ type: 'check.deleted' });
    expect([schedule.value, schedule.status]).to.deep.equal(['removed', 'done']);
    expect(effects).to.deep.equal(['clearDeadline']);
  });

  it('reaches all of its states', () => {
    const paths = getShortestPaths(checkScheduleMachine, {
      input: INPUT,
      events: [reached(7_000), { type: 'check.deleted' }],
      serializeState: ({ value }) => value,
    });
    const states = new Set(paths.map(({ state }) => state.value));
    expect([...states].sort()).to.deep.equal(Object.keys(checkScheduleMachine.states).sort());
  });

  it('keeps every tick on the grid of its first one, in the future, at most one interval away', () => {
    const delays = fc.array(fc.nat({ max: 50_000 }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(delays, fc.integer({ min: 1, max: 20_000 }), (list, intervalMs) => {
        let [schedule] = initialTransition(checkScheduleMachine, { ...INPUT, intervalMs });
        for (const delayMs of list) {
          const atMs = schedule.context.nextTickAtMs + delayMs;
          [schedule] = transition(checkScheduleMachine, schedule, reached(schedule.context.nextTickAtMs, atMs));
          const { nextTickAtMs } = schedule.context;
          expect((nextTickAtMs - INPUT.firstTickAtMs) % intervalMs).to.equal(0);
          expect(nextTickAtMs).to.be.within(atMs + 1, atMs + intervalMs);
        }
      }),
    );
  });

  it('of a state that no longer exists starts in status error', () => {
    const snapshot = restored(checkScheduleMachine, 'unheard-of', after().schedule.context);
    expect(snapshot.status).to.equal('error');
  });
});
