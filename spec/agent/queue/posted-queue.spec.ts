import { expect } from 'chai';
import { EventQueue } from '../../../src/agent/queue/event-queue.ts';
import { PostedQueue } from '../../../src/agent/queue/posted-queue.ts';
import { Overloaded } from '../../../src/resources/errors.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { RecordedLog } from '../../support/recorded-log.ts';
import { FakeStore } from './fake-store.ts';

const MAX_EVENTS = 3;
const listOf = (...payloads: string[]) => payloads.map((payload) => ({ payload, check: payload }));

describe('the queue of posted events', () => {
  let clock: ManualClock;
  let store: FakeStore;
  let queue: EventQueue;
  let posted: PostedQueue;
  let isConnected: boolean;

  beforeEach(() => {
    clock = new ManualClock();
    const log = new RecordedLog();
    store = new FakeStore();
    isConnected = false;
    queue = new EventQueue(store, MAX_EVENTS, { clock, log });
    const ports = { clock, log, queue, store, isConnected: () => isConnected, flush: () => undefined };
    posted = new PostedQueue(MAX_EVENTS, { ratePerS: 0, burst: 1 }, ports);
  });

  const stored = (): string[] => [...store.posted.values()].map(({ payload }) => payload);

  it('stores all events of a list in one transaction', async () => {
    const accepted = posted.accept(listOf('a', 'b'));
    expect(store.writes).to.equal(1);
    await store.finishWrites();
    await accepted;
    expect([stored(), store.writes, posted.size]).to.deep.equal([['a', 'b'], 1, 2]);
  });

  it('stores none of them when there is no room for all, or when the disk fails', async () => {
    const failureOf = (accepted: Promise<void>): Promise<unknown> =>
      accepted.then(
        () => undefined,
        (error: unknown) => error,
      );
    const first = failureOf(posted.accept(listOf('a', 'b')));
    // They count although they are not stored yet.
    expect(await failureOf(posted.accept(listOf('c', 'd')))).to.be.instanceOf(Overloaded);
    await store.failWrite();
    expect(await first).to.have.property('message', 'no space left on device');
    expect([stored(), posted.size]).to.deep.equal([[], 0]);
    await clock.advance(1_000);
    const second = posted.accept(listOf('e', 'f', 'g'));
    await store.finishWrites();
    await second;
    expect(stored()).to.deep.equal(['e', 'f', 'g']);
  });

  it('sends from memory at once while the disk fails, also events that were stored before', async () => {
    const accepted = posted.accept(listOf('a', 'b'));
    await store.finishWrites();
    await accepted;
    queue.push('c', 'c');
    await store.failWrite();
    queue.beginConnection();
    isConnected = true;
    posted.relay();
    await new Promise((next) => setImmediate(next));
    const sent: string[] = [];
    for (let event = queue.next(); event !== undefined; event = queue.next()) sent.push(event.payload);
    expect(sent).to.deep.equal(['c', 'a', 'b']);
    expect(stored()).to.deep.equal(['a', 'b']);
    await clock.advance(1_000);
    await store.finishWrites();
    expect(stored()).to.deep.equal([]);
  });
});
