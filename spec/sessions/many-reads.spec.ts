import { setImmediate as nextTick } from 'node:timers/promises';
import { expect } from 'chai';
import { perTest } from '../support/fixture.ts';
import { AgentPortUnderTest } from './agent-port-under-test.ts';

/** A message of 65,535 bytes, with an empty mask. */
const HEADER = Buffer.from([0x82, 0xfe, 0xff, 0xff, 0, 0, 0, 0]);
const MAX_READS = 16_384;

describe('an agent that sends a message in single bytes', function () {
  this.timeout(60_000);
  const port = perTest(
    () => AgentPortUnderTest.start(),
    (started) => started.stop(),
  );

  it('is disconnected before the message has more parts than can be joined in one tick', async () => {
    const [agent] = await port.connect(1);
    if (agent === undefined) throw new Error('no connection');
    agent.handshake('slow');
    expect(await agent.status()).to.equal(101);
    agent.write(HEADER);
    let sent = 0;
    for (; agent.isOpen && sent < 60_000; sent += 1) {
      agent.write(Buffer.from('x'));
      await nextTick();
    }
    expect(sent).to.be.within(MAX_READS, 60_000 - 1);
  });
});
