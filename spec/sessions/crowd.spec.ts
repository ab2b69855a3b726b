import { setImmediate as nextTick } from 'node:timers/promises';
import { expect } from 'chai';
import { entityWithDefaults } from '../../src/resources/entity.ts';
import { eventually } from '../support/eventually.ts';
import { AgentPortUnderTest } from './agent-port-under-test.ts';
import type { RawAgent } from './raw-agent.ts';

const CROWD = 300;
/** 32 when sockets are read, and 32 at the end of the same tick. */
const PER_TICK = 64;
const WITHIN = { withinMs: 20_000, everyMs: 2 };

describe('a burst of agents', () => {
  let port: AgentPortUnderTest;

  afterEach(() => port.stop());

  const opened = () => port.log.lines.filter(({ msg }) => msg === 'agent connected').length;

  /** Returns the largest growth in one tick of the event loop, until all agents are counted. */
  async function mostPerTick(grown: () => number): Promise<number> {
    let most = 0;
    for (let before = grown(); before < CROWD;) {
      await nextTick();
      const now = grown();
      most = Math.max(most, now - before);
      before = now;
    }
    return most;
  }

  function handshakeAll(agents: readonly RawAgent[], nameOf: (index: number) => string): void {
    for (const [index, agent] of agents.entries()) agent.handshake(nameOf(index));
  }

  /** Waits until the backend has read `count` handshakes. */
  const waitsFor = (count: number) =>
    eventually(
      () => port.listener.waiting.handshakes.used,
      (used) => used === count,
      { what: 'waiting handshakes', ...WITHIN },
    );

  it('is authenticated and opened over several ticks when its password is cached', async () => {
    port = await AgentPortUnderTest.start();
    handshakeAll(await port.connect(CROWD), (index) => `warm-${index}`);
    const most = await Promise.all([mostPerTick(() => port.authentications), mostPerTick(opened)]);
    expect(Math.min(...most)).to.be.at.least(1);
    expect(Math.max(...most)).to.be.at.most(PER_TICK);
  });

  it('is accepted before more than four sessions open, on a clock that stands still', async () => {
    port = await AgentPortUnderTest.start();
    const openedAtArrivals: number[] = [];
    port.listener.server.on('connection', () => openedAtArrivals.push(opened()));
    await port.arrive(CROWD, (index) => `arriving-${index}`);
    await eventually(opened, (count) => count === CROWD, { what: 'all sessions', ...WITHIN });
    expect(openedAtArrivals).to.have.length(CROWD);
    expect(openedAtArrivals.at(-1)).to.be.at.most(4);
  });

  it('opens over several ticks when all agents wait for the hash of one password', async () => {
    port = await AgentPortUnderTest.start();
    let hashed = (): void => undefined;
    port.password = new Promise<void>((resolve) => (hashed = resolve));
    handshakeAll(await port.connect(CROWD), (index) => `cold-${index}`);
    await waitsFor(CROWD);
    hashed();
    expect(await mostPerTick(opened)).to.be.within(1, PER_TICK);
    expect(port.listener.waiting.handshakes.used).to.equal(0);
  });

  it('is disconnected when the backend stops, and every end is recorded by then', async () => {
    port = await AgentPortUnderTest.start();
    handshakeAll(await port.connect(CROWD), (index) => `stop-${index}`);
    await mostPerTick(opened);
    await port.clock.settle();
    const stopped = port.listener.stop();
    // The agents do not answer the close frame, so all are cut at the same time.
    await nextTick();
    const cut = port.clock.stall(2_000);
    await stopped;
    expect(port.listener.waiting.ends.used).to.equal(0);
    await cut;
    expect([...port.store.keys('sessions', { from: '', to: '\uffff' })]).to.deep.equal([]);
  });

  it('of one name causes one configuration for each session, and one a second for the others', async () => {
    port = await AgentPortUnderTest.start();
    const entity = { entity_class: 'agent', metadata: { name: 'clone', namespace: 'default' } };
    await port.system.commands.createEntity(entityWithDefaults(entity), 'admin');
    const agents = await port.connect(CROWD);
    handshakeAll(agents, () => 'clone');
    const received = () => agents.reduce((sum, { configurations }) => sum + configurations, 0);
    const receivedIs = (count: number) =>
      eventually(received, (sum) => sum >= count, { what: `${count} configurations`, ...WITHIN });
    // One for each session, and a second one for the first session when the second opened.
    expect(await receivedIs(CROWD + 1)).to.equal(CROWD + 1);
    await port.clock.advance(1_000);
    // A second one for all other sessions except the newest.
    expect(await receivedIs(2 * CROWD)).to.equal(2 * CROWD);
    await port.clock.advance(5_000);
    expect(received()).to.equal(2 * CROWD);
  });

  describe('above the limits', () => {
    const LIMITS = { handshakes: 3, sessions: 5 };
    const TOO_MANY = /^HTTP\/1\.1 503 [\s\S]*\r\nRetry-After: 5(\r\n|$)/;
    let hashed: () => void;

    beforeEach(async () => {
      port = await AgentPortUnderTest.start(LIMITS);
      hashed = () => undefined;
      port.password = new Promise<void>((resolve) => (hashed = resolve));
    });

    it('is refused with 503 and Retry-After beyond the handshake limit, before validation', async () => {
      const first = await port.connect(3);
      handshakeAll(first, (index) => `first-${index}`);
      await waitsFor(3);
      const [late] = await port.connect(1);
      late?.handshake('late');
      expect(await late?.status()).to.equal(503);
      expect(late?.answer?.head).to.match(TOO_MANY);
      expect(port.listener.waiting.handshakes).to.deep.equal({ used: 3, limit: 3, refused: 1 });
      expect(port.listener.handshakeRefusals()).to.have.nested.property('[0].agent', 'late');
      hashed();
      for (const agent of first) expect(await agent.status()).to.equal(101);
    });

    it('is refused with 503 beyond the session limit, and admitted when a session ends', async () => {
      hashed();
      const inside = await port.connect(5);
      for (const [index, agent] of inside.entries()) {
        agent.handshake(`inside-${index}`);
        expect(await agent.status()).to.equal(101);
      }
      const [outside, next] = await port.connect(2);
      outside?.handshake('outside');
      expect(await outside?.status()).to.equal(503);
      expect(outside?.answer?.head).to.match(TOO_MANY);
      inside[0]?.cut();
      await eventually(() => port.log.lines.some(({ msg }) => msg === 'agent disconnected'), Boolean, WITHIN);
      next?.handshake('next');
      expect(await next?.status()).to.equal(101);
    });

    it('is refused with 503 when the backend stops in the meantime, and no session opens', async () => {
      const agents = await port.connect(3);
      handshakeAll(agents, (index) => `late-${index}`);
      await waitsFor(3);
      const stopped = port.listener.stop();
      hashed();
      for (const agent of agents) expect(await agent.status()).to.equal(503);
      await stopped;
      expect(opened()).to.equal(0);
    });

    it('is disconnected when its passwords take longer than the stop may', async () => {
      handshakeAll(await port.connect(3), (index) => `never-${index}`);
      await waitsFor(3);
      const stopped = port.listener.stop();
      await port.clock.advance(2_000);
      await stopped;
      hashed();
      await port.clock.settle();
      expect(opened()).to.equal(0);
      expect(port.log.errors).to.deep.equal([]);
    });
  });

  it('is refused with 500 while the store fails', async () => {
    port = await AgentPortUnderTest.start();
    port.isFailing = true;
    const [agent, later] = await port.connect(2);
    agent?.handshake('failing');
    expect(await agent?.status()).to.equal(500);
    expect(opened()).to.equal(0);
    port.isFailing = false;
    later?.handshake('failing');
    expect(await later?.status()).to.equal(101);
  });
});
