import { expect } from 'chai';
import fc from 'fast-check';
import { EventQueue, MAX_QUEUED_EVENTS } from '../../src/agent/event-queue.ts';

function drain(queue: EventQueue): number[] {
  const sent: number[] = [];
  for (let item = queue.next(); item !== undefined; item = queue.next()) sent.push(item.n);
  return sent;
}

describe('the event queue', () => {
  it('numbers from 1 and sends in order', () => {
    const queue = new EventQueue();
    for (const payload of ['a', 'b', 'c']) queue.push(payload);
    expect([queue.next(), queue.next()]).to.deep.equal([
      { n: 1, payload: 'a' },
      { n: 2, payload: 'b' },
    ]);
    expect(drain(queue)).to.deep.equal([3]);
  });

  it('keeps what is sent until it is confirmed, and sends the rest again with the same numbers', () => {
    const queue = new EventQueue();
    for (const payload of ['a', 'b', 'c']) queue.push(payload);
    drain(queue);
    queue.confirm(1);
    queue.rewind();
    queue.push('d');
    expect(drain(queue)).to.deep.equal([2, 3, 4]);
  });

  it('takes no confirmation for what it has not sent', () => {
    const queue = new EventQueue();
    queue.push('a');
    queue.push('b');
    queue.next();
    queue.confirm(999);
    expect(queue.size).to.equal(1);
    expect(drain(queue)).to.deep.equal([2]);
  });

  it('drops the oldest at its bound and counts it', () => {
    const queue = new EventQueue();
    for (let n = 1; n <= MAX_QUEUED_EVENTS + 2; n++) queue.push('');
    expect(queue.size).to.equal(MAX_QUEUED_EVENTS);
    expect(queue.dropped).to.equal(2);
    expect(queue.next()?.n).to.equal(3);
  });

  it('drops the oldest above its bytes, but never the newest alone', () => {
    const queue = new EventQueue();
    const large = 'x'.repeat(50 * 1024 * 1024);
    queue.push(large);
    queue.push(large);
    expect(queue.size).to.equal(1);
    expect(queue.next()?.n).to.equal(2);
    queue.push(large + large);
    expect(queue.size).to.equal(1);
    expect(queue.next()?.n).to.equal(3);
  });

  it('gives up the largest of what was sent when the backend refuses its size', () => {
    const queue = new EventQueue();
    for (const payload of ['a', 'bbb', 'cc', 'not sent, though long']) queue.push(payload);
    for (let sent = 0; sent < 3; sent++) queue.next();
    expect(queue.dropLargestSent()?.n).to.equal(2);
    queue.rewind();
    expect(drain(queue)).to.deep.equal([1, 3, 4]);
  });

  it('delivers each item at least once, in order, and nothing that was acknowledged again', () => {
    const step = fc.oneof(
      fc.constant({ do: 'push' as const }),
      fc.record({ do: fc.constant('send' as const), upTo: fc.integer({ min: 1, max: 5 }) }),
      fc.record({ do: fc.constant('acknowledge' as const), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
      fc.constant({ do: 'reconnect' as const }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const queue = new EventQueue();
        const delivered = new Set<number>();
        let pushed = 0;
        let acknowledged = 0;
        let onConnection: number[] = [];
        const send = (upTo: number): void => {
          for (let sent = 0; sent < upTo; sent++) {
            const item = queue.next();
            if (item === undefined) return;
            expect(item.payload).to.equal(`event ${item.n}`);
            expect(item.n).to.equal((onConnection.at(-1) ?? acknowledged) + 1);
            onConnection.push(item.n);
            delivered.add(item.n);
          }
        };
        for (const current of [...steps, { do: 'reconnect' as const }]) {
          if (current.do === 'push') queue.push(`event ${++pushed}`);
          else if (current.do === 'send') send(current.upTo);
          else if (current.do === 'reconnect') {
            queue.rewind();
            onConnection = [];
          } else {
            const highest = onConnection.at(-1) ?? acknowledged;
            acknowledged += Math.floor((highest - acknowledged) * current.share);
            queue.confirm(acknowledged);
          }
          expect(queue.size).to.equal(pushed - acknowledged);
        }
        send(Infinity);
        expect(delivered.size).to.equal(pushed);
      }),
    );
  });
});
