import { expect } from 'chai';
import fc from 'fast-check';
import { type EventFrom, initialTransition, type SnapshotFrom, transition } from 'xstate';
import { getShortestPaths } from 'xstate/graph';
import { agentConnectionMachine } from '../../src/machines/agent-connection.ts';
import { restored } from './restored.ts';
import { leavesOf, pathOf } from './state-paths.ts';

type Connection = SnapshotFrom<typeof agentConnectionMachine>;
type ConnectionEvent = EventFrom<typeof agentConnectionMachine>;

const reached = (deadlineAtMs: number, silentMs: number, atMs = deadlineAtMs): ConnectionEvent => ({
  type: 'deadline.reached',
  deadlineAtMs,
  atMs,
  silentMs,
});

function after(...events: ConnectionEvent[]): { connection: Connection; effects: string[]; closeCode: unknown } {
  let [connection, actions] = initialTransition(agentConnectionMachine, { key: 'session', atMs: 0 });
  for (const event of events) [connection, actions] = transition(agentConnectionMachine, connection, event);
  const effects = actions.map(({ type }) => type);
  const params = actions.find(({ type }) => type === 'closeSocket')?.params as { code: number } | undefined;
  return { connection, effects, closeCode: params?.code };
}

const PINGED = reached(30_000, 30_000);
const WARNED = [PINGED, reached(45_000, 45_000)];
const CLOSING = [...WARNED, reached(60_000, 60_000)];

describe('the actor of a connection', () => {
  it('checks the silence for the first time after 30 s', () => {
    const { connection, effects } = after();
    expect(connection.value).to.equal('registered');
    expect(connection.context.deadlineAtMs).to.equal(30_000);
    expect(effects).to.deep.equal(['setDeadline']);
  });

  it('pings after 30 s of silence, warns after 45 s and closes after 60 s', () => {
    expect(after(PINGED).effects).to.deep.equal(['sendPing', 'setDeadline']);
    expect(after(PINGED).connection.context.deadlineAtMs).to.equal(45_000);
    expect(after(...WARNED).connection.value).to.equal('warning');
    expect(after(...WARNED).connection.context.deadlineAtMs).to.equal(60_000);
    const closing = after(...CLOSING);
    expect(closing.connection.value).to.deep.equal({ critical: 'closing' });
    expect(closing.closeCode).to.equal(1001);
  });

  it('sets its deadline from the silence, not from the last check', () => {
    const { connection, effects } = after(reached(30_000, 1_000));
    expect(connection.value).to.equal('registered');
    expect(connection.context.deadlineAtMs).to.equal(59_000);
    expect(effects).to.deep.equal(['setDeadline']);
  });

  it('is registered again after a frame, or when a check finds no silence', () => {
    expect(after(...WARNED, { type: 'frame.received', atMs: 50_000 }).connection.value).to.equal('registered');
    expect(after(...WARNED, reached(60_000, 2_000)).connection.value).to.equal('registered');
    expect(after(...WARNED, reached(60_000, 50_000)).connection.value).to.equal('warning');
  });

  it('is cut when it has not closed within 10 s', () => {
    const cut = after(...CLOSING, reached(70_000, 70_000));
    expect(cut.connection.value).to.equal('deregistered');
    expect(cut.effects).to.deep.equal(['terminateSocket', 'clearDeadline']);
  });

  const endings: [string, ConnectionEvent, string, number | undefined][] = [
    ['a write that is stuck', { type: 'write.stuck', atMs: 5 }, 'critical.stuck', undefined],
    ['the deletion of its entity', { type: 'entity.deleted', atMs: 5 }, 'critical.closing', 1001],
    ['the end of the backend', { type: 'shutdown.requested', atMs: 5 }, 'deregistered', 1001],
    ['the refusal of its registration', { type: 'registration.refused', atMs: 5 }, 'critical.closing', 1008],
    ['a failure of the store', { type: 'store.failed', atMs: 5 }, 'critical.closing', 1011],
    ['a frame that breaks the protocol', { type: 'protocol.violated' }, 'deregistered', 1002],
    ['the end of the socket', { type: 'socket.closed', code: 1006 }, 'deregistered', undefined],
    ['the end of the former process', { type: 'process.restarted' }, 'deregistered', undefined],
  ];
  for (const [what, event, state, code] of endings) {
    for (const [where, before] of [['registered', []] as const, ['warning', WARNED] as const]) {
      it(`goes from ${where} to ${state} after ${what}`, () => {
        const { connection, closeCode } = after(...before, event);
        expect([pathOf(connection.value), closeCode]).to.deep.equal([state, code]);
        if (state.startsWith('critical')) expect(connection.context.deadlineAtMs).to.equal(10_005);
      });
    }
  }

  it('stays critical after any event until the socket is closed', () => {
    const said: ConnectionEvent[] = [
      { type: 'frame.received', atMs: 61_000 },
      { type: 'entity.deleted', atMs: 61_000 },
      { type: 'store.failed', atMs: 61_000 },
      reached(60_000, 60_000),
    ];
    for (const event of said) expect(after(...CLOSING, event).effects).to.deep.equal([]);
    expect(after(...CLOSING, { type: 'socket.closed', code: 1001 }).connection.status).to.equal('done');
  });

  it('reaches all its states', () => {
    const paths = getShortestPaths(agentConnectionMachine, {
      input: { key: 'session', atMs: 0 },
      events: [
        reached(30_000, 45_000),
        { type: 'entity.deleted', atMs: 0 },
        { type: 'write.stuck', atMs: 0 },
        { type: 'socket.closed', code: 1000 },
      ],
      serializeState: ({ value }) => pathOf(value),
    });
    const states = new Set(paths.map(({ state }) => pathOf(state.value)));
    expect([...states].sort()).to.deep.equal(leavesOf(agentConnectionMachine));
  });
});

describe('the invariants of a connection', () => {
  const silences = fc.array(fc.nat({ max: 90_000 }), { maxLength: 20 });

  it('its state follows from its silence, and it checks again before the next state is due', () => {
    fc.assert(
      fc.property(silences, (list) => {
        let [connection] = initialTransition(agentConnectionMachine, { key: 'session', atMs: 0 });
        for (const silentMs of list) {
          const atMs = connection.context.deadlineAtMs;
          const before = connection.value;
          [connection] = transition(agentConnectionMachine, connection, reached(atMs, silentMs));
          const isClosing = before === 'warning' && silentMs >= 60_000;
          const state = isClosing ? 'critical.closing' : silentMs >= 45_000 ? 'warning' : 'registered';
          expect(pathOf(connection.value)).to.equal(state);
          if (isClosing) return;
          const limitMs = silentMs >= 45_000 ? 60_000 : silentMs >= 30_000 && before === 'registered' ? 45_000 : 30_000;
          expect(connection.context.deadlineAtMs).to.equal(atMs + limitMs - silentMs);
        }
      }),
    );
  });

  it('an outdated deadline changes nothing', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1 }), fc.nat({ max: 90_000 }), (distanceMs, silentMs) => {
        for (const events of [[], WARNED, CLOSING]) {
          const { connection } = after(...events);
          const event = reached(connection.context.deadlineAtMs + distanceMs, silentMs);
          const [now, actions] = transition(agentConnectionMachine, connection, event);
          expect([now.value, now.context, actions]).to.deep.equal([connection.value, connection.context, []]);
        }
      }),
    );
  });
});

describe('the snapshot of a connection', () => {
  it('ends with its process', () => {
    const { connection } = after(...WARNED);
    const snapshot = restored(agentConnectionMachine, connection.value, connection.context);
    expect(transition(agentConnectionMachine, snapshot, { type: 'process.restarted' })[0].status).to.equal('done');
  });

  it('with a state that no longer exists starts in status error', () => {
    const snapshot = restored(agentConnectionMachine, 'unheard-of', after().connection.context);
    expect(snapshot.status).to.equal('error');
  });
});
