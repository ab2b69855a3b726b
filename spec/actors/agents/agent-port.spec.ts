import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { AgentSession } from '../../../src/actors/agents/agent-session.ts';
import { NotOwner } from '../../../src/actors/agents/event-ownership.ts';
import { ActorSystem } from '../../../src/actors/system.ts';
import { parseEvent } from '../../../src/resources/event.ts';
import { checkEvent, keepalive } from '../../support/example-events.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { RecordedLog } from '../../support/recorded-log.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { readLedger } from '../../support/read-ledger.ts';
import { quietSession } from '../quiet-session.ts';

describe('a connection to the agent port', () => {
  let store: MemoryStore;
  let clock: ManualClock;
  let system: ActorSystem;
  let losses: Error[];
  let session: AgentSession;

  beforeEach(async () => {
    store = new MemoryStore();
    clock = new ManualClock();
    system = new ActorSystem({ store, clock, log: new RecordedLog(), backendName: 'backend' });
    await system.start();
    losses = [];
    session = quietSession({
      agentName: 'known',
      openedAtMs: clock.nowMs(),
      inputsLost: (error) => losses.push(error),
    });
  });

  afterEach(() => system.stop());

  const known = () => system.agents.session(session.id);

  it('is removed when its socket has closed', async () => {
    system.agents.open(session);
    await clock.settle();
    expect(known()).to.equal(session);
    system.agents.notify(session.id, { type: 'socket.closed', code: 1001 });
    expect(known()).to.equal(undefined);
  });

  it('is removed when its socket has closed after its opening was lost with a failed write', async () => {
    store.beforeWrite = () => Promise.reject(new Error('no space left on device'));
    system.agents.open(session);
    await clock.settle();
    expect(losses).to.have.lengthOf(1);
    system.agents.notify(session.id, { type: 'socket.closed', code: 1011 });
    expect(known()).to.equal(session);
    store.beforeWrite = () => Promise.resolve();
    await clock.advance(1_000);
    expect(known()).to.equal(undefined);
    expect(store.get('sessions', session.id)).to.equal(undefined);
  });

  it('is removed from the store after a failed write in which the end of its socket was lost', async () => {
    system.agents.open(session);
    await clock.settle();
    store.beforeWrite = () => Promise.reject(new Error('no space left on device'));
    system.agents.notify(session.id, { type: 'socket.closed', code: 1001 });
    await clock.settle();
    expect(store.get('sessions', session.id)).to.have.property('agentName', 'known');
    store.beforeWrite = () => Promise.resolve();
    await clock.advance(1_000);
    expect(store.get('sessions', session.id)).to.equal(undefined);
    expect(system.agents.pendingConnections).to.equal(0);
  });

  it('receives the events of a store failure after the store recovers, in order and each once', async () => {
    const other = { ...session, id: randomUUID() };
    for (const one of [session, other]) system.agents.open(one);
    await clock.settle();
    store.beforeWrite = () => Promise.reject(new Error('no space left on device'));
    system.agents.notify(session.id, { type: 'frame.received' });
    await clock.settle();
    expect(system.agents.pendingConnections).to.equal(0);
    for (const { id } of [session, other]) {
      system.agents.notify(id, { type: 'store.failed' });
      system.agents.notify(id, { type: 'store.failed' });
      system.agents.notify(id, { type: 'write.stuck' });
      system.agents.notify(id, { type: 'socket.closed', code: 1011 });
    }
    expect(system.agents.pendingConnections).to.equal(2);
    store.beforeWrite = () => Promise.resolve();
    await clock.advance(1_000);
    expect(system.agents.pendingConnections).to.equal(0);
    const transitions = readLedger(store, { actor: 'connection', key: session.id, limit: 10 }).map(
      ({ from, event, to }) => [from, event, to],
    );
    expect(transitions).to.deep.equal([
      [null, 'socket.opened', 'registered'],
      ['registered', 'store.failed', 'critical'],
      ['critical', 'socket.closed', 'deregistered'],
    ]);
  });

  for (const [state, silentMs] of [
    ['registered', 0],
    ['warning', 45_000],
  ] as const) {
    it(`goes from ${state} to deregistered in one transition when the backend stops, and its socket gets a close frame`, async () => {
      const closed: unknown[] = [];
      const own: AgentSession = { ...session, silentMs: () => silentMs, close: (...close) => closed.push(close) };
      system.agents.open(own);
      await clock.advance(46_000);
      system.agents.closeAll();
      await clock.settle();
      expect(closed).to.deep.equal([[1001, 'bye']]);
      system.agents.notify(own.id, { type: 'socket.closed', code: 1001 });
      await clock.settle();
      const last = readLedger(store, { actor: 'connection', key: own.id, limit: 10 }).at(-1);
      expect(last).to.deep.include({ from: state, event: 'shutdown.requested', to: 'deregistered' });
      expect(store.get('sessions', own.id)).to.equal(undefined);
    });
  }

  it("cannot write to the backend's own namespace, even from that namespace", async () => {
    const own: AgentSession = { ...session, namespace: 'mon-system', agentName: 'backend' };
    system.agents.open(own);
    const sent = (text: Record<string, unknown>) =>
      parseEvent(JSON.parse(JSON.stringify(text).replaceAll('"default"', '"mon-system"')));
    expect(() => {
      system.agents.receiveEvent(own, { event: sent(checkEvent('backend', 'c')), n: undefined, encoded: undefined });
    }).to.throw(NotOwner, "namespace mon-system is the backend's own");
    expect(() => {
      system.agents.receiveKeepalive(own, sent(keepalive('backend')));
    }).to.throw(NotOwner, "namespace mon-system is the backend's own");
    await clock.settle();
    expect([...store.keys('events', { from: '', to: '~' })]).to.deep.equal([]);
  });
});
