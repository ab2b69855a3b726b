import { expect } from 'chai';
import {
  MAX_REQUEST_BYTES,
  MAX_WAITING_REQUESTS,
  OutgoingQueue,
} from '../../../src/sessions/connection/outgoing-queue.ts';
import { ManualClock } from '../../support/manual-clock.ts';

describe('the outgoing queue of an agent', () => {
  let written: { frame: string; sent: (error?: Error) => void }[];
  let answered: number;
  let dropped: number;
  let failures: string[];
  let queue: OutgoingQueue;

  beforeEach(() => {
    written = [];
    answered = 0;
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

  const request = (n: number): void => {
    queue.pushRequest(Buffer.from(`request ${n}`));
  };
  const acknowledge = (n: number): void => {
    queue.pushLatest('ack', Buffer.from(`ack ${n}`), n);
  };
  const configure = (text: string): void => {
    queue.pushLatest('entity_config', Buffer.from(text));
  };
  const counts = () => ({ length: queue.length, requests: queue.waitingRequests, dropped: queue.dropped });

  /** Lets the peer read everything. */
  const drained = (): string[] => {
    for (; answered < written.length; answered += 1) written[answered]?.sent();
    return written.map(({ frame }) => frame);
  };

  it('counts frames from queueing to writing', () => {
    acknowledge(1);
    request(1);
    acknowledge(2);
    expect(counts()).to.deep.equal({ length: 2, requests: 1, dropped: 0 });
    expect(drained()).to.deep.equal(['ack 1', 'request 1', 'ack 2']);
    expect(counts()).to.deep.equal({ length: 0, requests: 0, dropped: 0 });
  });

  it('drops and counts the oldest check request at the limit, and no other frame', () => {
    acknowledge(0);
    acknowledge(1);
    for (let n = 0; n < MAX_WAITING_REQUESTS + 3; n += 1) request(n);
    expect(counts()).to.deep.equal({ length: MAX_WAITING_REQUESTS + 1, requests: MAX_WAITING_REQUESTS, dropped: 3 });
    expect(dropped).to.equal(3);
    const frames = drained();
    expect(frames.slice(0, 3)).to.deep.equal(['ack 0', 'ack 1', 'request 3']);
    expect(frames).to.have.length(MAX_WAITING_REQUESTS + 2);
    expect(queue.waitingRequests).to.equal(0);
  });

  it('drops the oldest check requests until the newest fits into the bytes', () => {
    const half = MAX_REQUEST_BYTES / 2;
    request(0);
    queue.pushRequest(Buffer.alloc(half, 'a'));
    queue.pushRequest(Buffer.alloc(half, 'b'));
    expect(queue.requestBytes).to.equal(MAX_REQUEST_BYTES);
    queue.pushRequest(Buffer.alloc(half + 1, 'c'));
    expect(counts()).to.deep.equal({ length: 1, requests: 1, dropped: 2 });
    expect(queue.requestBytes).to.equal(half + 1);
    expect(drained().map((frame) => frame[0])).to.deep.equal(['r', 'c']);
    expect(queue.requestBytes).to.equal(0);
  });

  it('drops and counts a check request that exceeds the bytes by itself, and keeps the others', () => {
    request(0);
    request(1);
    queue.pushRequest(Buffer.alloc(MAX_REQUEST_BYTES + 1));
    expect(counts()).to.deep.equal({ length: 1, requests: 1, dropped: 1 });
    expect(dropped).to.equal(1);
  });

  it('keeps the highest acknowledgement and the newest configuration only', () => {
    request(0);
    for (let n = 1; n <= 1_000; n += 1) {
      acknowledge(n);
      configure(`config ${n}`);
    }
    acknowledge(7);
    expect(counts()).to.deep.equal({ length: 2, requests: 0, dropped: 0 });
    expect(drained()).to.deep.equal(['request 0', 'ack 1000', 'config 1000']);
  });

  it('sends every frame to an agent that reads fast enough', () => {
    for (const n of [5, 5, 3]) {
      acknowledge(n);
      drained();
    }
    expect(drained()).to.deep.equal(['ack 5', 'ack 5', 'ack 3']);
  });

  it('is cleared when a write fails, which is reported once', () => {
    request(0);
    request(1);
    written[0]?.sent(new Error('broken'));
    expect(counts()).to.deep.equal({ length: 0, requests: 0, dropped: 0 });
    expect(failures).to.deep.equal(['broken']);
    expect(written).to.have.length(1);
  });
});
