import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { AgentPortUnderTest } from './agent-port-under-test.ts';
import type { RawAgent } from './raw-agent.ts';
import { readLedger } from '../support/read-ledger.ts';

const STOP_GRACE_MS = 2_000;

describe('a stop of the agent port', () => {
  let port: AgentPortUnderTest;
  let agent: RawAgent;

  beforeEach(async () => {
    port = await AgentPortUnderTest.start();
    [agent] = (await port.connect(1)) as [RawAgent];
    agent.handshake('never-closes');
    expect(await agent.status()).to.equal(101);
    await port.clock.settle();
  });

  afterEach(() => port.stop());

  const connections = () => readLedger(port.store, { actor: 'connection', limit: 10 });

  it('terminates the socket of an agent that never closes when the grace period ends', async () => {
    let hasStopped = false;
    const stopped = port.listener.stop().then(() => (hasStopped = true));
    await eventually(() => agent.closeFrames === 1, Boolean, { what: 'a close frame' });
    await port.clock.advance(STOP_GRACE_MS - 1);
    expect(agent.isOpen).to.equal(true);
    expect(hasStopped).to.equal(false);
    await port.clock.advance(1);
    await eventually(() => !agent.isOpen, Boolean, { what: 'the end of the socket' });
    await stopped;
  });

  it('records one transition from registered to deregistered for that agent', async () => {
    const stopped = port.listener.stop();
    await eventually(() => agent.closeFrames === 1, Boolean, { what: 'a close frame' });
    await port.clock.advance(STOP_GRACE_MS);
    await stopped;
    await port.clock.settle();
    expect(connections().map(({ from, event, to }) => [from, event, to])).to.deep.equal([
      [null, 'socket.opened', 'registered'],
      ['registered', 'shutdown.requested', 'deregistered'],
    ]);
    expect([...port.store.keys('sessions', { from: '', to: '\uffff' })]).to.deep.equal([]);
  });
});
