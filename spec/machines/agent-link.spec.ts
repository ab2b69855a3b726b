import { expect } from 'chai';
import fc from 'fast-check';
import { createActor, initialTransition, transition, type EventFrom, type SnapshotFrom } from 'xstate';
import { getShortestPaths } from 'xstate/graph';
import { agentLinkMachine } from '../../src/machines/agent-link.ts';
import { ManualClock } from '../support/manual-clock.ts';

type Link = SnapshotFrom<typeof agentLinkMachine>;
type LinkEvent = EventFrom<typeof agentLinkMachine>;

const RETRY = { minMs: 1_000, maxMs: 120_000, multiplier: 2 };
const SETTINGS = { retry: RETRY, handshakeTimeoutMs: 15_000, maxSessionMs: 0, waitsForConfig: true };
const FAILED: LinkEvent = { type: 'attempt.failed', jitter: 0 };
const WAITED = { type: 'xstate.after.wait.agent-link.backingOff' } as unknown as LinkEvent;

function after(...events: LinkEvent[]): { link: Link; effects: string[] } {
  let [link, actions] = initialTransition(agentLinkMachine, SETTINGS);
  for (const event of events) [link, actions] = transition(agentLinkMachine, link, event);
  return { link, effects: actions.map(({ type }) => type).filter((type) => !type.startsWith('xstate.')) };
}

const accepted = (atMs: number): LinkEvent => ({ type: 'handshake.accepted', atMs, jitter: 0 });
const closed = (atMs: number, jitter = 0): LinkEvent => ({ type: 'socket.closed', atMs, jitter });

describe('the agent-link machine', () => {
  it('opens a socket immediately', () => {
    const { link, effects } = after();
    expect(link.value).to.deep.equal({ attempting: 'connecting' });
    expect(effects).to.deep.equal(['openSocket']);
  });

  it('waits for the entity config, then starts keepalives', () => {
    const waiting = after({ type: 'socket.connected' }, accepted(0));
    expect(waiting.link.value).to.deep.equal({ connected: 'awaitingConfig' });
    expect(waiting.effects).to.include('beginSession').and.not.include('beginKeepalives');
    const ready = after({ type: 'socket.connected' }, accepted(0), { type: 'config.received' });
    expect(ready.link.value).to.deep.equal({ connected: 'ready' });
    expect(ready.effects).to.deep.equal(['beginKeepalives']);
  });

  it('doubles the wait after each failure, plus the jitter, up to the longest wait', () => {
    const waitsMs = (jitter: number, count: number): number[] => {
      let [link] = initialTransition(agentLinkMachine, SETTINGS);
      return Array.from({ length: count }, () => {
        [link] = transition(agentLinkMachine, link, { type: 'attempt.failed', jitter });
        const { waitMs } = link.context;
        [link] = transition(agentLinkMachine, link, WAITED);
        return waitMs;
      });
    };
    expect(waitsMs(0, 9)).to.deep.equal([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 120_000, 120_000]);
    expect(waitsMs(0.5, 6)).to.deep.equal([1_000, 3_000, 9_000, 27_000, 81_000, 120_000]);
  });

  it('waits longer for a backend that has too many clients', () => {
    const { link } = after({ type: 'attempt.failed', jitter: 0, httpStatus: 429 });
    expect(link.context).to.include({ waitMs: 2_000, nextWaitMs: 8_000 });
  });

  it('resets the backoff only after a stable connection', () => {
    const short = after(FAILED, WAITED, accepted(5_000), closed(14_999));
    expect(short.link.value).to.equal('backingOff');
    expect(short.link.context.waitMs).to.equal(2_000);
    const long = after(FAILED, WAITED, accepted(5_000), closed(15_000));
    expect(long.link.value).to.deep.equal({ attempting: 'connecting' });
    expect(long.link.context.nextWaitMs).to.equal(1_000);
  });

  it('releases its resources when it is stopped', () => {
    const stop: LinkEvent = { type: 'stop.requested' };
    expect(after(stop).effects).to.deep.equal(['abandonSocket']);
    expect(after(accepted(0), stop).effects).to.deep.equal(['closeSocket']);
    expect(after(accepted(0), { type: 'config.received' }, stop).effects).to.deep.equal([
      'endKeepalives',
      'closeSocket',
    ]);
    expect(after(FAILED, stop).effects).to.deep.equal([]);
    for (const events of [[], [accepted(0)], [FAILED]]) expect(after(...events, stop).link.status).to.equal('done');
  });

  it('abandons a handshake after 15 s and stops waiting for a config after 10 s', async () => {
    const clock = new ManualClock();
    const effects: string[] = [];
    const effect = (name: string) => () => void effects.push(name);
    const link = createActor(
      agentLinkMachine.provide({
        actions: {
          openSocket: effect('openSocket'),
          abandonSocket: effect('abandonSocket'),
          beginSession: effect('beginSession'),
          missConfig: effect('missConfig'),
          beginKeepalives: effect('beginKeepalives'),
        },
      }),
      {
        input: SETTINGS,
        clock: {
          setTimeout: (fire: () => void, ms: number) => clock.after(ms, fire),
          clearTimeout: (cancel: () => void) => cancel(),
        },
      },
    ).start();
    await clock.advance(14_999);
    expect(effects).to.deep.equal(['openSocket']);
    await clock.advance(1);
    expect(effects.splice(0)).to.deep.equal(['openSocket', 'abandonSocket']);
    link.send(FAILED);
    await clock.advance(1_000);
    expect(effects.splice(0)).to.deep.equal(['openSocket']);
    link.send(accepted(16_000));
    await clock.advance(10_000);
    expect(effects).to.deep.equal(['beginSession', 'missConfig', 'beginKeepalives']);
    link.stop();
  });

  it('does not wait for the config of an agent-managed entity', () => {
    const [link] = initialTransition(agentLinkMachine, { ...SETTINGS, waitsForConfig: false });
    const [connected, actions] = transition(agentLinkMachine, link, accepted(0));
    expect(connected.value).to.deep.equal({ connected: 'ready' });
    expect(actions.map(({ type }) => type)).to.include.members(['beginSession', 'beginKeepalives']);
  });

  for (const { jitter, endsMs } of [
    { jitter: 0, endsMs: 60_000 },
    { jitter: 0.5, endsMs: 45_000 },
  ]) {
    it(`changes the backend after the longest time, shortened by the jitter: ${endsMs} ms`, async () => {
      const clock = new ManualClock();
      const effects: string[] = [];
      const effect = (name: string) => () => void effects.push(name);
      const link = createActor(
        agentLinkMachine.provide({
          actions: {
            openSocket: effect('openSocket'),
            closeSocket: effect('closeSocket'),
            beginSession: effect('beginSession'),
            beginKeepalives: effect('beginKeepalives'),
            endKeepalives: effect('endKeepalives'),
          },
        }),
        {
          input: { ...SETTINGS, maxSessionMs: 60_000 },
          clock: {
            setTimeout: (fire: () => void, ms: number) => clock.after(ms, fire),
            clearTimeout: (cancel: () => void) => cancel(),
          },
        },
      ).start();
      link.send({ type: 'handshake.accepted', atMs: 0, jitter });
      link.send({ type: 'config.received' });
      await clock.advance(endsMs - 1);
      expect(effects).to.not.include('closeSocket');
      await clock.advance(1);
      expect(effects).to.include('closeSocket');
      link.send(closed(endsMs));
      expect(effects.at(-1)).to.equal('openSocket');
      link.stop();
    });
  }

  it('throws when an effect is not provided', () => {
    const link = createActor(agentLinkMachine, { input: SETTINGS });
    link.subscribe({ error: () => undefined });
    link.start();
    expect(link.getSnapshot()).to.include({ status: 'error' });
    expect(String((link.getSnapshot() as { error: unknown }).error)).to.contain('openSocket');
  });

  it('reaches all its states', () => {
    const paths = getShortestPaths(agentLinkMachine, {
      input: SETTINGS,
      events: [
        { type: 'socket.connected' },
        FAILED,
        accepted(0),
        { type: 'config.received' },
        closed(0),
        { type: 'stop.requested' },
      ],
      serializeState: ({ value }) => JSON.stringify(value),
    });
    expect(paths.map(({ state }) => JSON.stringify(state.value)).toSorted()).to.deep.equal(
      [
        '"backingOff"',
        '"stopped"',
        '{"attempting":"connecting"}',
        '{"attempting":"handshake"}',
        '{"connected":"awaitingConfig"}',
        '{"connected":"ready"}',
      ].toSorted(),
    );
  });

  it('never waits longer than the longest wait or shorter than the first, after any events', () => {
    const jitter = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    const atMs = fc.integer({ min: 0, max: 1_000_000 });
    const event: fc.Arbitrary<LinkEvent> = fc.oneof(
      fc.record({ type: fc.constant('attempt.failed' as const), jitter }),
      fc.record({ type: fc.constant('socket.closed' as const), jitter, atMs }),
      fc.record({ type: fc.constant('handshake.accepted' as const), atMs, jitter }),
      fc.constant(WAITED),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        let [link] = initialTransition(agentLinkMachine, SETTINGS);
        for (const next of events) {
          [link] = transition(agentLinkMachine, link, next);
          if (link.matches('backingOff')) expect(link.context.waitMs).to.be.within(RETRY.minMs, RETRY.maxMs);
        }
      }),
    );
  });
});
