import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { entityWithDefaults } from '../../src/resources/entity.ts';
import { eventually } from '../support/eventually.ts';
import { AgentPortUnderTest } from './agent-port-under-test.ts';
import type { RawAgent } from './raw-agent.ts';

const CROWD = 500;
/** 32 when their sockets are read, and 32 at the end of the same turn. */
const IN_A_TURN = 64;
const WITHIN = { withinMs: 20_000, everyMs: 2 };

describe('a crowd at the agent port', () => {
  let port: AgentPortUnderTest;

  afterEach(() => port.stop());

  const opened = () => port.log.lines.filter(({ msg }) => msg === 'agent connected').length;

  /** By how much it grew at most in one turn of the event loop, until all have come. */
  async function mostInATurn(grown: () => number): Promise<number> {
    let most = 0;
    for (let before = grown(); before < CROWD;) {
      await nextTurn();
      const now = grown();
      most = Math.max(most, now - before);
      before = now;
    }
    return most;
  }

  function shakeHands(agents: readonly RawAgent[], nameOf: (index: number) => string): void {
    for (const [index, agent] of agents.entries()) agent.shakeHands(nameOf(index));
  }

  /** As long as it takes until the backend has read all of them. */
  const waitsFor = (count: number) =>
    eventually(
      () => port.listener.waiting.handshakes.used,
      (used) => used === count,
      { what: 'the crowd at the door', ...WITHIN },
    );

  it('is validated and opened over several ticks when its password is cached', async () => {
    port = await AgentPortUnderTest.start();
    shakeHands(await port.connect(CROWD), (index) => `warm-${index}`);
    const most = await Promise.all([mostInATurn(() => port.judged), mostInATurn(opened)]);
    expect(Math.min(...most)).to.be.at.least(1);
    expect(Math.max(...most)).to.be.at.most(IN_A_TURN);
  });

  it('opens over several ticks when all agents wait for the hash of one password', async () => {
    port = await AgentPortUnderTest.start();
    let hashed = (): void => undefined;
    port.password = new Promise<void>((resolve) => (hashed = resolve));
    shakeHands(await port.connect(CROWD), (index) => `cold-${index}`);
    await waitsFor(CROWD);
    hashed();
    expect(await mostInATurn(opened)).to.be.within(1, IN_A_TURN);
    expect(port.listener.waiting.handshakes.used).to.equal(0);
  });

  it('is disconnected when the backend stops, and every end is recorded by then', async () => {
    port = await AgentPortUnderTest.start();
    shakeHands(await port.connect(CROWD), (index) => `stop-${index}`);
    await mostInATurn(opened);
    await port.clock.settle();
    const stopped = port.listener.stop();
    // They do not answer the close frame: all are cut at the same moment.
    await nextTurn();
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
    shakeHands(agents, () => 'clone');
    const told = () => agents.reduce((sum, { configurations }) => sum + configurations, 0);
    const toldIs = (count: number) =>
      eventually(told, (sum) => sum >= count, { what: `${count} configurations`, ...WITHIN });
    // Its own each, and once more the first of them when the second opened.
    expect(await toldIs(CROWD + 1)).to.equal(CROWD + 1);
    await port.clock.advance(1_000);
    // All but the newest.
    expect(await toldIs(2 * CROWD)).to.equal(2 * CROWD);
    await port.clock.advance(5_000);
    expect(told()).to.equal(2 * CROWD);
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
      shakeHands(first, (index) => `first-${index}`);
      await waitsFor(3);
      const [late] = await port.connect(1);
      late?.shakeHands('late');
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
        agent.shakeHands(`inside-${index}`);
        expect(await agent.status()).to.equal(101);
      }
      const [outside, next] = await port.connect(2);
      outside?.shakeHands('outside');
      expect(await outside?.status()).to.equal(503);
      expect(outside?.answer?.head).to.match(TOO_MANY);
      inside[0]?.cut();
      await eventually(() => port.log.lines.some(({ msg }) => msg === 'agent disconnected'), Boolean, WITHIN);
      next?.shakeHands('next');
      expect(await next?.status()).to.equal(101);
    });

    it('is refused with 503 when the backend stops in the meantime, and no session opens', async () => {
      const agents = await port.connect(3);
      shakeHands(agents, (index) => `late-${index}`);
      await waitsFor(3);
      const stopped = port.listener.stop();
      hashed();
      for (const agent of agents) expect(await agent.status()).to.equal(503);
      await stopped;
      expect(opened()).to.equal(0);
    });

    it('is disconnected when its passwords take longer than the stop may', async () => {
      shakeHands(await port.connect(3), (index) => `never-${index}`);
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
    agent?.shakeHands('failing');
    expect(await agent?.status()).to.equal(500);
    expect(opened()).to.equal(0);
    port.isFailing = false;
    later?.shakeHands('failing');
    expect(await later?.status()).to.equal(101);
  });
});
