import { expect } from 'chai';
import { MAX_HELD_FRAMES } from '../../../src/sessions/connection/held-frames.ts';
import { eventually } from '../../support/eventually.ts';
import { AgentPortUnderTest } from '../agent-port-under-test.ts';
import type { RawAgent } from '../raw-agent.ts';

const BINARY = 0x82;
const PING = 0x89;
const MASKED = 0x80;
const MASK = [0, 0, 0, 0];
/** Reading stops when so many are held. */
const UNTIL_PAUSE = 100;
const READ_BYTES = 65_536;
const LEAST_FRAME_BYTES = 6;

const frames = (count: number, payload: string): Buffer => {
  const frame = Buffer.concat([Buffer.from([BINARY, MASKED | payload.length, ...MASK]), Buffer.from(payload)]);
  return Buffer.concat(Array.from({ length: count }, () => frame));
};

describe('held messages of an agent', () => {
  let port: AgentPortUnderTest;
  let agent: RawAgent;
  let other: RawAgent;

  beforeEach(async () => {
    port = await AgentPortUnderTest.start();
    const [first, second] = await port.connect(2);
    if (first === undefined || second === undefined) throw new Error('no connection');
    [agent, other] = [first, second];
    agent.handshake('sender');
    other.handshake('other');
    expect([await agent.status(), await other.status()]).to.deep.equal([101, 101]);
    port.mustPause = true;
  });

  afterEach(async () => {
    port.mustPause = false;
    await port.stop();
  });

  const held = (): number => port.listener.stats().maxHeldFrames.used;
  const holds = (count: number) => eventually(held, (used) => used === count, { what: `${count} held messages` });

  /** What had come before to any connection was read when this is over, unless that is paused. */
  async function read(): Promise<void> {
    for (let times = 0; times < 2; times += 1) {
      const before = other.pongs;
      other.write(Buffer.from([PING, MASKED, ...MASK]));
      await eventually(() => other.pongs > before, Boolean, { what: 'a pong', everyMs: 1 });
    }
  }

  it('pause reading at a hundred, after the messages that were already read', async () => {
    agent.write(frames(UNTIL_PAUSE - 1, 'event\n{}'));
    await holds(UNTIL_PAUSE - 1);
    expect(port.listener.stats().paused).to.equal(0);
    agent.write(frames(50, 'event\n{}'));
    await holds(UNTIL_PAUSE + 49);
    expect(port.listener.stats().paused).to.equal(1);
    agent.write(frames(50, 'event\n{}'));
    await read();
    expect(held()).to.equal(UNTIL_PAUSE + 49);
  });

  it('never exceed their limit, whatever the agent sends', async () => {
    agent.write(frames(UNTIL_PAUSE - 1, ''));
    await holds(UNTIL_PAUSE - 1);
    const inOneRead = Math.floor(READ_BYTES / LEAST_FRAME_BYTES);
    for (let times = 0; times < 10; times += 1) agent.write(frames(inOneRead, ''));
    await eventually(
      () => port.listener.stats().paused,
      (paused) => paused === 1,
      { what: 'the pause' },
    );
    await read();
    expect(held()).to.be.within(UNTIL_PAUSE, MAX_HELD_FRAMES);
    expect(port.listener.stats().maxHeldFrames.limit).to.equal(MAX_HELD_FRAMES);
  });
});
