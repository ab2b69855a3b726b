import { expect } from 'chai';
import fc from 'fast-check';
import { EventQueue, MAX_EVENTS_IN_MEMORY, MAX_QUEUED_BYTES } from '../../../src/agent/queue/event-queue.ts';
import { HELD_IN_MEMORY_MS } from '../../../src/agent/queue/spill.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { RecordedLog } from '../../support/recorded-log.ts';
import { FakeStore } from './fake-store.ts';

const MAX_EVENTS = 5;

function drain(queue: EventQueue): number[] {
  const sent: number[] = [];
  for (let event = queue.next(); event !== undefined; event = queue.next()) sent.push(event.n);
  return sent;
}

describe('the event queue', () => {
  let clock: ManualClock;
  let log: RecordedLog;
  let store: FakeStore;
  let queue: EventQueue;

  const push = (...payloads: string[]): void => {
    for (const payload of payloads) queue.push(payload, payload);
  };
  const reopen = (): void => {
    store = store.afterCrash(false);
    queue = new EventQueue(store, MAX_EVENTS, { clock, log });
  };

  beforeEach(() => {
    clock = new ManualClock();
    log = new RecordedLog();
    store = new FakeStore();
    queue = new EventQueue(store, MAX_EVENTS, { clock, log });
  });

  describe('while connected', () => {
    beforeEach(() => queue.beginConnection());

    it('numbers from 1 and sends in order', () => {
      push('a', 'b', 'c');
      expect([queue.next(), queue.next()]).to.deep.equal([
        { n: 1, payload: 'a' },
        { n: 2, payload: 'b' },
      ]);
      expect(drain(queue)).to.deep.equal([3]);
    });

    it('keeps what is sent until it is confirmed, and sends the rest again with the same numbers', () => {
      push('a', 'b', 'c');
      drain(queue);
      queue.confirm(1);
      queue.beginConnection();
      push('d');
      expect(drain(queue)).to.deep.equal([2, 3, 4]);
    });

    it('ignores a confirmation of unsent events', () => {
      push('a', 'b');
      queue.next();
      queue.confirm(999);
      expect(queue.size).to.equal(1);
      expect(drain(queue)).to.deep.equal([2]);
    });

    it('does not write events that are confirmed in time', async () => {
      push('a', 'b');
      drain(queue);
      await clock.advance(HELD_IN_MEMORY_MS - 1);
      queue.confirm(2);
      await clock.advance(10 * HELD_IN_MEMORY_MS);
      expect(store.writes).to.equal(0);
    });

    it('writes events that are not confirmed in time, and removes them later', async () => {
      push('a');
      drain(queue);
      await clock.advance(HELD_IN_MEMORY_MS);
      await store.finishWrites();
      expect([...store.content.keys()]).to.deep.equal([1]);
      queue.confirm(1);
      await store.finishWrites();
      expect(store.content.size).to.equal(0);
    });

    it('removes events that are confirmed while they are being written', async () => {
      push('a');
      drain(queue);
      await clock.advance(HELD_IN_MEMORY_MS);
      queue.confirm(1);
      await store.finishWrites();
      expect(store.content.size).to.equal(0);
      expect(queue.size).to.equal(0);
    });

    it('writes events beyond the memory limit at once', () => {
      queue = new EventQueue(store, 10_000, { clock, log });
      queue.beginConnection();
      for (let count = 0; count <= 1_000; count++) push('x');
      expect(store.writes).to.equal(1);
    });

    it('writes the events in memory when the connection ends', async () => {
      push('a', 'b');
      queue.endConnection();
      await store.finishWrites();
      expect(store.content.size).to.equal(2);
    });

    it('drops the largest sent event when the backend rejects its size, unless a keepalive was as large', () => {
      push('a', 'bbb', 'cc', 'not sent, though long');
      for (let sent = 0; sent < 3; sent++) queue.next();
      expect(queue.dropLargestSent(3)).to.equal(undefined);
      expect(queue.dropLargestSent(2)?.n).to.equal(2);
      queue.beginConnection();
      expect(drain(queue)).to.deep.equal([1, 3, 4]);
    });

    it('discards one event without confirming others', () => {
      push('a', 'b', 'c');
      drain(queue);
      queue.discard(2);
      queue.beginConnection();
      expect(drain(queue)).to.deep.equal([1, 3]);
    });
  });

  describe('while not connected', () => {
    it('writes at once, one write after the other', async () => {
      push('a', 'b', 'c');
      expect(store.writes).to.equal(1);
      await store.finishWrites();
      expect(store.writes).to.equal(2);
      expect([...store.content.values()].map(({ payload }) => payload)).to.deep.equal(['a', 'b', 'c']);
    });

    it('is restored by the next process with the same numbers, and continues above all used ones', async () => {
      push('a', 'b');
      await store.finishWrites();
      push('lost');
      reopen();
      expect(queue.size).to.equal(2);
      push('d');
      expect([queue.next(), queue.next()]).to.deep.equal([
        { n: 1, payload: 'a' },
        { n: 2, payload: 'b' },
      ]);
      const next = queue.next();
      expect(next?.payload).to.equal('d');
      expect(next?.n).to.be.greaterThan(1_000_000);
    });

    it('retries when the disk fails, logs the failure, and sends from memory', async () => {
      push('a');
      await store.failWrite();
      push('b');
      expect(log.errors.map(({ msg }) => msg)).to.deep.equal([
        'failed to write the event queue, events are in memory only',
      ]);
      expect(drain(queue)).to.deep.equal([1, 2]);
      await clock.advance(1_000);
      await store.finishWrites();
      expect([...store.content.keys()]).to.deep.equal([1, 2]);
    });

    it('retries to remove confirmed events', async () => {
      push('a');
      await store.finishWrites();
      drain(queue);
      queue.confirm(1);
      await store.failWrite();
      await clock.advance(1_000);
      await store.finishWrites();
      expect(store.content.size).to.equal(0);
    });

    it('drops a damaged record and sends the rest', async () => {
      push('a', 'b');
      await store.finishWrites();
      store.content.delete(1);
      expect(drain(queue)).to.deep.equal([2]);
      expect(queue.dropped).to.equal(1);
      expect(log.errors.map(({ msg }) => msg)).to.deep.equal(['dropping a damaged queued event']);
    });
  });

  describe('at its bounds', () => {
    it('drops the oldest of the same check first, then the oldest, and counts them', async () => {
      for (const check of ['a', 'b', 'b', 'c', 'c']) queue.push(`of ${check}`, check);
      await store.finishWrites();
      queue.push('newest of b', 'b');
      queue.push('first of d', 'd');
      await store.finishWrites();
      expect(drain(queue)).to.deep.equal([3, 4, 5, 6, 7]);
      expect([...store.content.keys()]).to.deep.equal([3, 4, 5, 6, 7]);
      expect(queue.dropped).to.equal(2);
      expect(log.lines.filter(({ level }) => level === 'warn')).to.deep.equal([
        { level: 'warn', msg: 'event queue is full, dropping the oldest event', fields: { dropped: 1, check: 'b' } },
      ]);
    });

    it('drops events above its size in bytes too, but never the only one', async () => {
      const half = 'x'.repeat(MAX_QUEUED_BYTES / 2);
      push(half, half);
      push('y');
      expect(drain(queue)).to.deep.equal([2, 3]);
      await store.finishWrites();
    });

    it('keeps its position when events before and after it are dropped', () => {
      queue.beginConnection();
      for (const check of ['a', 'b', 'c', 'd', 'e']) queue.push(check, check);
      queue.next();
      queue.next();
      queue.push('newest of a', 'a');
      queue.push('newest of d', 'd');
      expect(drain(queue)).to.deep.equal([3, 5, 6, 7]);
    });

    it('holds fewer events without a store', () => {
      queue = new EventQueue(undefined, 100_000, { clock, log });
      for (let n = 1; n <= MAX_EVENTS_IN_MEMORY + 2; n++) push('');
      expect(queue.size).to.equal(MAX_EVENTS_IN_MEMORY);
      expect(queue.next()?.n).to.equal(3);
    });
  });

  describe('when it is closed', () => {
    it('writes the events in memory and closes the store', async () => {
      queue.beginConnection();
      push('a');
      const closed = queue.close();
      await new Promise((resolve) => setImmediate(resolve));
      await store.finishWrites();
      await closed;
      expect(store.content.size).to.equal(1);
      expect(store.isClosed).to.equal(true);
    });

    it('finishes even if the disk fails', async () => {
      push('a');
      const closed = queue.close();
      await store.failWrite();
      await store.failWrite();
      await closed;
      expect(store.isClosed).to.equal(true);
    });
  });

  it('delivers kept events at least once, in order, with unchanged numbers, and no acknowledged event again', async () => {
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.constant({ do: 'push' as const }) },
      { weight: 3, arbitrary: fc.record({ do: fc.constant('send' as const), upTo: fc.integer({ min: 1, max: 5 }) }) },
      {
        weight: 2,
        arbitrary: fc.record({
          do: fc.constant('acknowledge' as const),
          share: fc.double({ min: 0, max: 1, noNaN: true }),
        }),
      },
      { weight: 2, arbitrary: fc.constantFrom({ do: 'connect' as const }, { do: 'disconnect' as const }) },
      { weight: 2, arbitrary: fc.constantFrom({ do: 'settle' as const }, { do: 'finish' as const }) },
      { weight: 1, arbitrary: fc.constant({ do: 'fail' as const }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('crash' as const), cameThrough: fc.boolean() }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 80, size: 'max' }), async (steps) => {
        clock = new ManualClock();
        store = new FakeStore();
        queue = new EventQueue(store, 100_000, { clock, log: new RecordedLog() });
        let pushed = 0;
        const payloadOf = new Map<number, string>();
        const delivered = new Set<string>();
        let onConnection: number[] = [];
        /** Accepted, and not sure to survive a crash. */
        let atRisk = new Set<string>();
        const lost = new Set<string>();
        /** Acknowledged by number; a crash before the settling may bring them back. */
        let acknowledged = new Set<number>();
        const acknowledgedForGood = new Set<number>();

        const send = (upTo: number): void => {
          for (let sent = 0; sent < upTo; sent++) {
            const event = queue.next();
            if (event === undefined) return;
            expect(event.n).to.be.greaterThan(onConnection.at(-1) ?? 0);
            expect(payloadOf.get(event.n) ?? event.payload).to.equal(event.payload);
            expect(acknowledged.has(event.n) || acknowledgedForGood.has(event.n)).to.equal(false);
            payloadOf.set(event.n, event.payload);
            onConnection.push(event.n);
            delivered.add(event.payload);
          }
        };
        const settle = async (): Promise<void> => {
          // A failed write is tried again after a minute at the latest.
          for (let turn = 0; turn < 2; turn++) {
            await clock.advance(60_000);
            await store.finishWrites();
          }
          atRisk = new Set();
          for (const n of acknowledged) acknowledgedForGood.add(n);
        };
        const connect = (): void => {
          queue.beginConnection();
          onConnection = [];
        };

        connect();
        for (const current of steps) {
          if (current.do === 'push') {
            atRisk.add(`event ${++pushed}`);
            queue.push(`event ${pushed}`, 'check');
          } else if (current.do === 'send') send(current.upTo);
          else if (current.do === 'connect') connect();
          else if (current.do === 'disconnect') queue.endConnection();
          else if (current.do === 'settle') await settle();
          else if (current.do === 'finish') await store.finishWrites();
          else if (current.do === 'fail') await store.failWrite();
          else if (current.do === 'acknowledge') {
            const count = Math.floor(onConnection.length * current.share);
            const highest = onConnection[count - 1];
            if (highest === undefined) continue;
            for (const n of onConnection.slice(0, count)) acknowledged.add(n);
            queue.confirm(highest);
          } else {
            store = store.afterCrash(current.cameThrough);
            queue = new EventQueue(store, 100_000, { clock, log: new RecordedLog() });
            for (const payload of atRisk) lost.add(payload);
            atRisk = new Set();
            acknowledged = new Set();
            connect();
          }
        }
        await settle();
        connect();
        send(Infinity);
        for (let n = 1; n <= pushed; n++) {
          if (!lost.has(`event ${n}`)) expect(delivered).to.include(`event ${n}`);
        }
        const inOrder = onConnection.map((n) => Number(payloadOf.get(n)?.slice('event '.length)));
        expect(inOrder).to.deep.equal(inOrder.toSorted((a, b) => a - b));
      }),
      { numRuns: 200 },
    );
  });
});
