import { setImmediate as nextTick } from 'node:timers/promises';
import { expect } from 'chai';
import { type MadeRequest, RequestPacer } from '../../src/scheduler/request-pacer.ts';
import { ManualClock } from '../support/manual-clock.ts';

const SENT = Promise.resolve();
const MIB = 1024 * 1024;

describe('the pacer of proxy requests', () => {
  let pacer: RequestPacer;
  let nowMs: number;
  let made: string[];

  beforeEach(() => {
    nowMs = new ManualClock().monotonicMs();
    pacer = new RequestPacer({ monotonicMs: () => nowMs });
    made = [];
  });

  function request(name: string, { takesMs = 0, bytes = 1, durable = SENT } = {}): Promise<void> {
    return pacer.request((): MadeRequest => {
      made.push(name);
      nowMs += takesMs;
      return { bytes, durable };
    });
  }

  it('makes 20 requests of all runs together in one tick of the event loop', async () => {
    for (let n = 0; n < 45; n += 1) void request(String(n));
    const counts = [made.length];
    for (let tick = 0; tick < 2; tick += 1) {
      await nextTick();
      counts.push(made.length);
    }
    expect(counts).to.deep.equal([20, 40, 45]);
  });

  it('makes no further request in a tick after 10 ms', async () => {
    for (let n = 0; n < 4; n += 1) void request(String(n), { takesMs: 6 });
    expect(made).to.have.length(2);
    await nextTick();
    expect(made).to.have.length(4);
  });

  it('makes one request per tick if each takes longer', async () => {
    void request('a', { takesMs: 50 });
    void request('b', { takesMs: 50 });
    expect(made).to.deep.equal(['a']);
    await nextTick();
    expect(made).to.deep.equal(['a', 'b']);
  });

  it('waits at 2 MiB of requests that are not sent, and continues when they are sent or lost', async () => {
    let send = (): void => undefined;
    let lose: (error: Error) => void = () => undefined;
    const sent = new Promise<void>((resolve) => (send = resolve));
    const lost = new Promise<void>((_, reject) => (lose = reject));
    void request('a', { bytes: 2 * MIB, durable: sent });
    void request('b', { bytes: 2 * MIB, durable: lost });
    void request('c');
    await nextTick();
    expect(made).to.deep.equal(['a']);
    send();
    await nextTick();
    expect(made).to.deep.equal(['a', 'b']);
    lose(new Error('lost'));
    await nextTick();
    expect(made).to.deep.equal(['a', 'b', 'c']);
  });

  it('waits at 200 requests that are not sent, whatever their size', async () => {
    let send = (): void => undefined;
    const sent = new Promise<void>((resolve) => (send = resolve));
    for (let n = 0; n < 450; n += 1) void request(String(n), { durable: sent });
    for (let tick = 0; tick < 30; tick += 1) await nextTick();
    expect(made).to.have.length(200);
    send();
    for (let tick = 0; tick < 30; tick += 1) await nextTick();
    expect(made).to.have.length(450);
  });

  it('lets runs alternate', async () => {
    const run = async (name: string): Promise<void> => {
      for (let n = 0; n < 3; n += 1) await request(name, { takesMs: 10 });
    };
    await Promise.all([run('a'), run('b')]);
    expect(made.join('')).to.equal('ababab');
  });
});
