import { expect } from 'chai';
import { ClosedConnections } from '../../../src/sessions/connection/closed-connections.ts';
import { MAX_HELD_FRAMES } from '../../../src/sessions/connection/held-frames.ts';
import { IncomingMessages } from '../../../src/sessions/connection/incoming-messages.ts';
import { eventually } from '../../support/eventually.ts';
import { ManualClock } from '../../support/manual-clock.ts';
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

describe('the messages of one agent', () => {
  let clock: ManualClock;
  let mustPause: boolean;
  let mayRead: boolean;
  let calls: string[];
  let incoming: IncomingMessages;

  beforeEach(() => {
    clock = new ManualClock();
    [mustPause, mayRead, calls] = [true, true, []];
    incoming = new IncomingMessages({
      socket: { pause: () => calls.push('pause'), resume: () => calls.push('resume'), readyState: 1, OPEN: 1 },
      clock,
      pong: () => calls.push('pong'),
      mustPause: () => mustPause,
      isFailing: () => false,
      decide: (message) => calls.push(String(message)),
      awaitResume: () => undefined,
      mayRead: () => mayRead,
      closed: new ClosedConnections(1_000),
      dropped: (messages) => calls.push(`dropped ${messages}`),
    });
  });

  const receive = (...messages: string[]): void => {
    for (const message of messages) incoming.receive(Buffer.from(message));
  };
  const ALWAYS = (): boolean => true;

  it('are processed in several steps when there is no time for all', () => {
    receive('1', '2', '3');
    mustPause = false;
    expect(incoming.resume(() => calls.length < 2)).to.equal(false);
    expect(incoming.resume(ALWAYS)).to.equal(true);
    expect(calls).to.deep.equal(['1', '2', '3']);
  });

  it('wait while senders must pause', () => {
    incoming.pause();
    expect(incoming.resume(ALWAYS)).to.equal(false);
    expect(calls).to.deep.equal(['pause']);
  });

  it('are not read on before others allow it', () => {
    incoming.pause();
    [mustPause, mayRead] = [false, false];
    expect(incoming.resume(ALWAYS)).to.equal(true);
    expect([calls, incoming.isPaused]).to.deep.equal([['pause'], false]);
  });

  it('have one pong in ten seconds while they are not read, however often that begins', async () => {
    for (let times = 0; times < 5; times += 1) {
      incoming.pause();
      mustPause = false;
      incoming.resume(ALWAYS);
      mustPause = true;
    }
    incoming.pause();
    await clock.advance(20_000);
    expect(calls.filter((call) => call === 'pong')).to.have.length(2);
    incoming.end(() => undefined);
    await clock.advance(20_000);
    expect(calls.filter((call) => call === 'pong')).to.have.length(2);
  });

  it('are dropped after the end of their connection when there is no room for them', () => {
    receive('x'.repeat(1_000));
    incoming.end(() => calls.push('end'));
    expect(calls).to.deep.equal(['dropped 1', 'end']);
  });

  it('come before the end of their connection', () => {
    receive('1', '2');
    incoming.end(() => calls.push('end'));
    expect(calls).to.deep.equal([]);
    mustPause = false;
    incoming.resume(ALWAYS);
    incoming.resume(ALWAYS);
    expect(calls).to.deep.equal(['1', '2', 'end']);
  });
});

describe('the connections that have closed', () => {
  it('keep messages up to a bound, until they are processed or the port stops', () => {
    const closed = new ClosedConnections(100);
    const dropped: string[] = [];
    const drop = (name: string) => () => void dropped.push(name);
    const release = closed.keep(60, drop('a'));
    expect(closed.keep(60, drop('b'))).to.equal(undefined);
    release?.();
    release?.();
    expect(closed.keep(60, drop('c'))).to.be.a('function');
    expect(closed.keep(40, drop('d'))).to.be.a('function');
    closed.stop();
    expect(dropped).to.deep.equal(['c', 'd']);
    expect(closed.keep(1, drop('e'))).to.equal(undefined);
  });
});

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

  it('are processed after their agent has disconnected, when senders may continue', async () => {
    agent.write(frames(3, 'unheard-of\n'));
    await holds(3);
    agent.cut();
    await read();
    expect([held(), port.listener.refusedFrames.total]).to.deep.equal([3, 0]);
    port.mustPause = false;
    // Each commit lets senders continue.
    await port.system.decider.decide({ cause: { restore: true } }, (ctx) => {
      ctx.put('resources', 'namespaces/other', { name: 'other' });
    }).durable;
    await eventually(() => [...port.store.keys('sessions', { from: '', to: '~' })].length === 1);
    expect(port.listener.refusedFrames.total).to.equal(3);
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
