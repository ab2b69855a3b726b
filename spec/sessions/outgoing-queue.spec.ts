import { expect } from 'chai';
import { MAX_WAITING_REQUESTS, OutgoingQueue } from '../../src/sessions/outgoing-queue.ts';
import { ManualClock } from '../support/manual-clock.ts';

describe('the frames that wait for one agent', () => {
  let written: { frame: string; sent: (error?: Error) => void }[];
  let dropped: number;
  let failures: string[];
  let queue: OutgoingQueue;

  beforeEach(() => {
    written = [];
    dropped = 0;
    failures = [];
    queue = new OutgoingQueue({
      clock: new ManualClock(),
      writeTimeoutMs: 15_000,
      send: (frame, sent) => written.push({ frame: frame.toString(), sent }),
      stuck: () => undefined,
      dropped: () => (dropped += 1),
      failed: ({ message }) => failures.push(message),
    });
  });

  const push = (frame: string, droppable: boolean): void => {
    queue.push(Buffer.from(frame), droppable);
  };
  const counts = () => ({ length: queue.length, requests: queue.waitingRequests, dropped: queue.dropped });

  /** Lets the peer read everything. */
  const drained = (): string[] => {
    for (let index = 0; index < written.length; index += 1) written[index]?.sent();
    return written.map(({ frame }) => frame);
  };

  it('are counted from when they wait until they are written', () => {
    push('ack', false);
    push('request', true);
    push('ack', false);
    expect(counts()).to.deep.equal({ length: 2, requests: 1, dropped: 0 });
    expect(drained()).to.deep.equal(['ack', 'request', 'ack']);
    expect(counts()).to.deep.equal({ length: 0, requests: 0, dropped: 0 });
  });

  it('are at most so many requests: the oldest is dropped and counted, and nothing else is', () => {
    push('ack 0', false);
    push('ack 1', false);
    for (let n = 0; n < MAX_WAITING_REQUESTS + 3; n += 1) push(`request ${n}`, true);
    expect(counts()).to.deep.equal({ length: MAX_WAITING_REQUESTS + 1, requests: MAX_WAITING_REQUESTS, dropped: 3 });
    expect(dropped).to.equal(3);
    const frames = drained();
    expect(frames.slice(0, 3)).to.deep.equal(['ack 0', 'ack 1', 'request 3']);
    expect(frames).to.have.length(MAX_WAITING_REQUESTS + 2);
    expect(queue.waitingRequests).to.equal(0);
  });

  it('are gone when one cannot be written, which is told once', () => {
    push('request 0', true);
    push('request 1', true);
    written[0]?.sent(new Error('broken'));
    expect(counts()).to.deep.equal({ length: 0, requests: 0, dropped: 0 });
    expect(failures).to.deep.equal(['broken']);
    expect(written).to.have.length(1);
  });
});
