import { expect } from 'chai';
import fc from 'fast-check';
import { type EventFrom, initialTransition, type SnapshotFrom, transition } from 'xstate';
import { getShortestPaths } from 'xstate/graph';
import { checkScheduleMachine } from '../../src/machines/check-schedule.ts';
import { restored } from './restored.ts';
import { leavesOf, pathOf } from './state-paths.ts';

type Schedule = SnapshotFrom<typeof checkScheduleMachine>;
type ScheduleEvent = EventFrom<typeof checkScheduleMachine>;

const INPUT = { key: 'default/disk', firstTickAtMs: 7_000 };

const reached = (deadlineAtMs: number, skip?: 'not published' | 'subdued'): ScheduleEvent => ({
  type: 'deadline.reached',
  deadlineAtMs,
  atMs: deadlineAtMs + 1,
  nextTickAtMs: deadlineAtMs + 10_000,
  skip,
});
const sent = (atMs: number, sessions: number): ScheduleEvent => ({ type: 'request.sent', atMs, sessions });
const unheard = (atMs: number): ScheduleEvent => ({ type: 'tick.skipped', atMs, reason: 'no agents', detail: 'x' });
const joined: ScheduleEvent = { type: 'ring.joined', firstTickAtMs: 12_000 };

function after(...events: ScheduleEvent[]): { schedule: Schedule; effects: string[] } {
  return from(initialTransition(checkScheduleMachine, INPUT), events);
}

function from([schedule, actions]: ReturnType<typeof initialTransition>, events: ScheduleEvent[]) {
  let current = schedule as Schedule;
  let effects: readonly { type: string }[] = actions;
  for (const event of events) [current, effects] = transition(checkScheduleMachine, current, event);
  return { schedule: current, effects: effects.map(({ type }) => type) };
}

const contextAfter = (...events: ScheduleEvent[]) => after(...events).schedule.context;

describe('the schedule of a check', () => {
  it('waits for its first tick and requests nothing at once', () => {
    const { schedule, effects } = after();
    expect(schedule.context.nextTickAtMs).to.equal(7_000);
    expect(effects).to.deep.equal(['setDeadline']);
  });

  it('requests the check at each tick and waits for the next one', () => {
    const { schedule, effects } = after(reached(7_000), reached(17_000));
    expect(effects).to.have.members(['requestCheck', 'setDeadline']);
    expect(schedule.context.nextTickAtMs).to.equal(27_000);
  });

  for (const reason of ['not published', 'subdued'] as const) {
    it(`requests nothing while the check is ${reason}, records why, advances the rings and continues`, () => {
      const { schedule, effects } = after(reached(7_000, reason));
      expect(effects).to.have.members(['advanceRings', 'explainSkip', 'setDeadline']);
      expect(schedule.context.nextTickAtMs).to.equal(17_000);
      expect(schedule.context.lastSkip).to.deep.equal({ atMs: 7_001, reason, detail: undefined });
    });
  }

  it('keeps the time of the last request and the reason of the last skipped tick', () => {
    expect(contextAfter()).to.include({ lastRunAtMs: undefined, lastSkip: undefined });
    expect(contextAfter(reached(7_000), sent(7_000, 2))).to.include({ lastRunAtMs: 7_000, lastSkip: undefined });
    const unheardOf = contextAfter(reached(7_000), sent(7_000, 1), reached(17_000), sent(17_000, 0));
    expect(unheardOf).to.deep.include({
      lastRunAtMs: 7_000,
      lastSkip: { atMs: 17_000, reason: 'no agents', detail: undefined },
    });
    expect(unheardOf.nextTickAtMs).to.equal(27_000);
    const failed = contextAfter(sent(7_000, 1), {
      type: 'request.failed',
      atMs: 7_001,
      reason: 'tokens not substituted',
    });
    expect(failed).to.deep.include({ lastSkip: { atMs: 7_001, reason: 'tokens not substituted', detail: undefined } });
    expect(failed).to.include({ lastRunAtMs: 7_000, skipReason: undefined });
  });

  it('records a skipped tick if its reason is new, and the first request after it', () => {
    const explained: unknown[] = [];
    const watched = checkScheduleMachine.provide({
      actions: {
        explainSkip: (_, { reason, isNew }) => explained.push([reason, isNew]),
        explainRun: (_, { skipped }) => explained.push(['run', skipped]),
      },
    });
    let [schedule] = initialTransition(watched, INPUT);
    const events = [
      unheard(1),
      unheard(2),
      reached(7_000, 'subdued'),
      sent(17_000, 1),
      sent(27_000, 1),
      sent(37_000, 0),
    ];
    for (const event of events) {
      const [next, effects] = transition(watched, schedule, event);
      schedule = next;
      for (const { exec, info, params } of effects as {
        exec?: (...args: unknown[]) => void;
        info: object;
        params: unknown;
      }[]) {
        if (params !== undefined) exec?.(info, params);
      }
    }
    expect(explained).to.deep.equal([
      ['no agents', true],
      ['no agents', false],
      ['subdued', true],
      ['run', 'subdued'],
      ['run', undefined],
      ['no agents', true],
    ]);
  });

  it('restarts when its ring gets a member while it waits for one, and not otherwise', () => {
    expect(contextAfter(joined).nextTickAtMs).to.equal(7_000);
    const waiting = after(reached(7_000), unheard(7_000), joined);
    expect(waiting.schedule.context).to.include({ nextTickAtMs: 12_000 });
    expect(pathOf(waiting.schedule.value)).to.equal('scheduled.skipping');
    expect(waiting.effects).to.deep.equal(['setDeadline']);
    expect(contextAfter(unheard(7_000), sent(7_500, 1), joined).nextTickAtMs).to.equal(7_000);
    const created = after({ type: 'agents.awaited' }, joined);
    expect(created.schedule.context.nextTickAtMs).to.equal(12_000);
    expect(pathOf(created.schedule.value)).to.equal('scheduled.running');
  });

  const states: [string, ScheduleEvent[], string][] = [
    ['no tick was due', [], 'running'],
    ['a tick reached an agent', [reached(7_000), sent(7_000, 1)], 'running'],
    ['a tick was subdued', [reached(7_000, 'subdued')], 'skipping'],
    ['a tick was due while the former one was skipped', [reached(7_000, 'subdued'), reached(17_000)], 'skipping'],
    ['a tick failed for another reason', [{ type: 'tick.skipped', atMs: 1, reason: 'check changed' }], 'skipping'],
    ['a request reached no session', [reached(7_000), sent(7_000, 0)], 'waitingForAgents'],
    ['no ring had a member', [reached(7_000), unheard(7_000)], 'waitingForAgents'],
    ['a tick was subdued while it waited', [unheard(1), reached(7_000, 'subdued')], 'skipping'],
    ['a tick reached an agent while it waited', [unheard(1), reached(7_000), sent(7_000, 1)], 'running'],
    [
      'one of several requests failed',
      [{ type: 'request.failed', atMs: 1, reason: 'tokens not substituted' }],
      'running',
    ],
    [
      'it was changed while it waited',
      [unheard(1), { type: 'schedule.changed', firstTickAtMs: 9_000 }],
      'waitingForAgents',
    ],
  ];
  for (const [what, events, state] of states) {
    it(`is ${state} after ${what}`, () => {
      expect(pathOf(after(...events).schedule.value)).to.equal(`scheduled.${state}`);
    });
  }

  it('restarts when it is changed, and ignores the tick of the old schedule', () => {
    const changed = after({ type: 'schedule.changed', firstTickAtMs: 31_000 });
    expect(changed.schedule.context.nextTickAtMs).to.equal(31_000);
    expect(changed.effects).to.deep.equal(['setDeadline']);
    const [same, actions] = transition(checkScheduleMachine, changed.schedule, reached(7_000));
    expect([same.context, actions]).to.deep.equal([changed.schedule.context, []]);
  });

  it('without a known next tick accepts the one that arrives', () => {
    const evicted = { ...after().schedule, context: { ...after().schedule.context, nextTickAtMs: undefined } };
    const [schedule] = transition(checkScheduleMachine, evicted as Schedule, reached(47_000));
    expect(schedule.context.nextTickAtMs).to.equal(57_000);
  });

  it('ends when the check is deleted', () => {
    const { schedule, effects } = after({ type: 'check.deleted' });
    expect([schedule.value, schedule.status]).to.deep.equal(['removed', 'done']);
    expect(effects).to.deep.equal(['clearDeadline']);
  });

  it('reaches all its states', () => {
    const paths = getShortestPaths(checkScheduleMachine, {
      input: INPUT,
      events: [reached(7_000, 'subdued'), sent(7_000, 0), { type: 'check.deleted' }],
      serializeState: ({ value }) => pathOf(value),
    });
    const reachedStates = new Set(paths.map(({ state }) => pathOf(state.value)));
    expect([...reachedStates].sort()).to.deep.equal(leavesOf(checkScheduleMachine));
  });

  it('with a state that no longer exists starts in status error', () => {
    const snapshot = restored(checkScheduleMachine, 'unheard-of', after().schedule.context);
    expect(snapshot.status).to.equal('error');
  });
});

describe('the invariants of a schedule', () => {
  /** Each moment is armed once, so that an alarm belongs to one deadline. */
  const steps = fc.uniqueArray(
    fc.record({
      what: fc.constantFrom('changed', 'joined', 'due', 'any alarm', 'sent', 'skipped', 'awaited'),
      momentMs: fc.integer({ min: INPUT.firstTickAtMs + 1, max: 1_000_000 }),
      alarm: fc.nat(),
      skip: fc.constantFrom(undefined, 'not published', 'subdued'),
      sessions: fc.nat({ max: 1 }),
    }),
    { selector: ({ momentMs }) => momentMs, maxLength: 30 },
  );
  type Step = typeof steps extends fc.Arbitrary<(infer T)[]> ? T : never;

  /** A deadline queue that keeps all alarms: each may fire at any time, and repeatedly. */
  interface Alarms {
    armedAtMs: number | undefined;
    alarms: readonly number[];
  }

  interface Played {
    before: Schedule;
    event: ScheduleEvent;
    now: Schedule;
    effects: string[];
    /** The queue before the event. */
    queue: Alarms;
    armedAtMs: number | undefined;
  }

  function eventOf({ what, momentMs, alarm, skip, sessions }: Step, { armedAtMs, alarms }: Alarms): ScheduleEvent {
    if (what === 'changed') return { type: 'schedule.changed', firstTickAtMs: momentMs };
    if (what === 'joined') return { type: 'ring.joined', firstTickAtMs: momentMs };
    if (what === 'sent') return sent(momentMs, sessions);
    if (what === 'skipped') return unheard(momentMs);
    if (what === 'awaited') return { type: 'agents.awaited' };
    const anyMs = alarms[alarm % alarms.length] ?? 0;
    const deadlineAtMs = what === 'due' ? (armedAtMs ?? anyMs) : anyMs;
    return { type: 'deadline.reached', deadlineAtMs, atMs: deadlineAtMs, nextTickAtMs: momentMs, skip };
  }

  function play(list: readonly (Step | 'deleted')[]): Played[] {
    let [schedule] = initialTransition(checkScheduleMachine, INPUT);
    let queue: Alarms = { armedAtMs: INPUT.firstTickAtMs, alarms: [INPUT.firstTickAtMs] };
    return list.map((step) => {
      const before = schedule;
      const event: ScheduleEvent = step === 'deleted' ? { type: 'check.deleted' } : eventOf(step, queue);
      const [now, actions] = transition(checkScheduleMachine, before, event);
      let { armedAtMs, alarms } = queue;
      for (const { type, info } of actions) {
        if (type === 'clearDeadline') armedAtMs = undefined;
        if (type === 'setDeadline') armedAtMs = info.context.nextTickAtMs;
      }
      if (armedAtMs !== undefined) alarms = [...alarms, armedAtMs];
      const played = { before, event, now, effects: actions.map(({ type }) => type), queue, armedAtMs };
      schedule = now;
      queue = { armedAtMs, alarms };
      return played;
    });
  }

  const isVoid = ({ event, queue }: Played) =>
    event.type === 'deadline.reached' && event.deadlineAtMs !== queue.armedAtMs;

  /** Returns the deadline after an event. */
  function movedToMs(played: Played): number | undefined {
    const { before, event } = played;
    if (event.type === 'schedule.changed') return event.firstTickAtMs;
    const isWaiting = before.matches({ scheduled: 'waitingForAgents' });
    if (event.type === 'ring.joined' && isWaiting) return event.firstTickAtMs;
    return event.type === 'deadline.reached' && !isVoid(played) ? event.nextTickAtMs : undefined;
  }

  it('the deadline set by the last event is armed and is the next tick', () => {
    fc.assert(
      fc.property(steps, (list) => {
        for (const played of play(list)) {
          expect(played.armedAtMs).to.equal(movedToMs(played) ?? played.queue.armedAtMs);
          expect(played.now.context.nextTickAtMs).to.equal(played.armedAtMs);
        }
      }),
    );
  });

  it('the alarm of a moved deadline changes nothing', () => {
    fc.assert(
      fc.property(steps, (list) => {
        for (const { before, now, effects } of play(list).filter(isVoid)) {
          expect([now.value, now.context, effects]).to.deep.equal([before.value, before.context, []]);
        }
      }),
    );
  });

  it('only a reached deadline ticks, and only once', () => {
    fc.assert(
      fc.property(steps, (list) => {
        const tickedMs: number[] = [];
        for (const played of play(list)) {
          const { event, effects } = played;
          const ticks = effects.filter((type) => type === 'requestCheck' || type === 'advanceRings');
          if (event.type === 'deadline.reached' && !isVoid(played)) {
            expect(ticks).to.deep.equal([event.skip === undefined ? 'requestCheck' : 'advanceRings']);
            tickedMs.push(event.deadlineAtMs);
          } else {
            expect(ticks).to.deep.equal([]);
          }
        }
        expect(new Set(tickedMs).size).to.equal(tickedMs.length);
      }),
    );
  });

  it('nothing is armed and nothing happens after the end', () => {
    fc.assert(
      fc.property(steps, steps, (list, later) => {
        const [end, ...rest] = play([...list, 'deleted', ...later]).slice(list.length);
        expect([end?.now.status, end?.armedAtMs]).to.deep.equal(['done', undefined]);
        for (const { effects, armedAtMs } of rest) expect([effects, armedAtMs]).to.deep.equal([[], undefined]);
      }),
    );
  });
});
