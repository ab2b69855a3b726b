import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { OutboxInMemory } from './outbox-in-memory.ts';

const HOUR_MS = 3_600_000;
const REFUSED = 'connect ECONNREFUSED 127.0.0.1:9';

describe('an event whose handler cannot be reached', () => {
  let outbox: OutboxInMemory;

  beforeEach(() => {
    outbox = new OutboxInMemory({ handlerRetryForMs: HOUR_MS });
    outbox.handler('down', 'tcp');
    outbox.handler('fine');
    outbox.handler('half', 'pipe');
    outbox.handler('again', 'pipe', 'default', { 'mon.io/retry-for': '10s' });
    for (const name of ['down', 'half', 'again']) outbox.unreachable.set(name, REFUSED);
  });

  afterEach(async () => {
    const stopped = outbox.pipeline.stop();
    await outbox.clock.advance(5_000);
    await stopped;
  });

  const begun = (id: string): number => outbox.begun.filter((one) => one === id).length;

  async function attempts(id: string, count: number): Promise<void> {
    await eventually(() => begun(id) >= count, Boolean, { what: `attempt ${count} of ${id}` });
    await outbox.clock.settle();
  }

  /** Advances in small steps, because each attempt decides when the next one is due. */
  async function pass(ms: number, stepMs = 250): Promise<void> {
    for (let passed = 0; passed < ms; passed += stepMs) {
      await outbox.clock.advance(stepMs);
      await outbox.clock.settle();
    }
  }

  it('is tried again after one second, and then after longer delays, with the same id', async () => {
    outbox.add('1', 'down');
    await attempts('1', 1);
    const next = outbox.pipeline.nextAttempt('1');
    expect(next?.atMs).to.equal(outbox.clock.nowMs() + 1_000);
    expect(next?.reason).to.match(/./);
    await pass(750);
    expect(begun('1')).to.equal(1);
    await pass(250);
    await attempts('1', 2);
    await pass(1_750);
    expect(begun('1')).to.equal(2);
    await pass(250);
    await attempts('1', 3);
    expect(outbox.attempts.get('1')).to.include({ attempts: 3 });
    expect(outbox.settled).to.deep.equal([]);
  });

  it('is handled when the handler can be reached again, and says how often it was tried', async () => {
    outbox.add('1', 'down');
    await attempts('1', 1);
    outbox.unreachable.delete('down');
    await pass(1_000);
    await outbox.settles('1');
    expect(outbox.settled[0]).to.include({ outcome: 'handled', attempts: 2 });
  });

  it('holds later events of its key and handler, in order, and no others', async () => {
    outbox.add('1', 'down', { key: 'a' });
    outbox.add('2', 'fine', { key: 'a' });
    outbox.add('3', 'down', { key: 'a' });
    outbox.add('4', 'down', { key: 'a' });
    outbox.add('5', 'fine', { key: 'a' });
    await outbox.settles('2', '5');
    expect([begun('3'), begun('4')]).to.deep.equal([0, 0]);
    outbox.unreachable.delete('down');
    await pass(1_000);
    await outbox.settles('1', '3', '4');
    expect(outbox.begun.filter((id) => ['1', '3', '4'].includes(id))).to.deep.equal(['1', '1', '3', '4']);
  });

  for (const isRestarted of [false, true]) {
    it(`is filtered when its filters could not be evaluated before${isRestarted ? ' the backend started again' : ''}`, async () => {
      outbox.unreachable.clear();
      const denies = { passes: false, filter: 'f', expression: 'f()', value: 'false' } as const;
      if (isRestarted) {
        outbox.filter = () => Promise.resolve(denies);
        const firstAttemptAtMs = outbox.clock.nowMs() - 1_000;
        outbox.add('1', 'again', { filters: ['f'], attempts: 1, firstAttemptAtMs, isUnfiltered: true });
      } else {
        outbox.filter = () => Promise.reject(new Error('the asset cannot be fetched'));
        outbox.add('1', 'again', { filters: ['f'] });
        await eventually(
          () => outbox.attempts.get('1'),
          (attempts) => attempts?.isUnfiltered === true,
        );
        outbox.filter = () => Promise.resolve(denies);
        await pass(1_000);
      }
      await outbox.settles('1');
      expect(outbox.settled[0]).to.include({ outcome: 'denied', attempts: 2 });
      expect(outbox.begun).to.deep.equal([]);
    });
  }

  it('is not filtered again after its handler has run', async () => {
    outbox.add('1', 'again', { filters: ['f'] });
    await attempts('1', 1);
    outbox.filter = () => Promise.reject(new Error('not evaluated'));
    outbox.unreachable.clear();
    await pass(1_000);
    await outbox.settles('1');
    expect(outbox.settled[0]).to.include({ outcome: 'handled', attempts: 2 });
  });

  it('becomes a dead letter with the reason after an hour', async () => {
    outbox.add('1', 'down');
    await attempts('1', 1);
    await pass(HOUR_MS, 1_000);
    await outbox.settles('1');
    const reason = `not handled within 3600 s: ${REFUSED}`;
    expect(outbox.settled[0]).to.include({ outcome: 'failed', reason, isDeadLetter: true });
    expect(outbox.settled[0]?.attempts).to.be.greaterThan(50);
  });

  it('keeps its first attempt when the backend starts again', async () => {
    const firstAttemptAtMs = outbox.clock.nowMs() - HOUR_MS + 2_000;
    outbox.add('1', 'down', { attempts: 7, firstAttemptAtMs });
    await attempts('1', 1);
    await pass(2_000);
    await outbox.settles('1');
    expect(outbox.settled[0]).to.include({ outcome: 'failed', attempts: 8 });
  });

  it('stays in the outbox with its attempt when the backend stops meanwhile', async () => {
    outbox.unreachable.clear();
    outbox.hangs.add('down');
    outbox.add('1', 'down');
    await attempts('1', 1);
    const stopped = outbox.pipeline.stop();
    outbox.unreachable.set('down', REFUSED);
    outbox.hanging.get('1')?.();
    await stopped;
    expect(outbox.settled).to.deep.equal([]);
    expect([...outbox.entries.keys()]).to.deep.equal(['1']);
    expect(outbox.attempts.get('1')).to.include({ attempts: 1 });
  });

  it('is not tried again by a command, which may have done half of its work', async () => {
    outbox.add('1', 'half');
    await outbox.settles('1');
    expect(outbox.settled[0]).to.include({ outcome: 'failed', reason: REFUSED, isDeadLetter: true });
  });

  it('is tried again by a command whose annotation says so', async () => {
    outbox.add('1', 'again');
    await attempts('1', 1);
    await pass(10_000);
    await outbox.settles('1');
    expect(begun('1')).to.be.within(3, 5);
    expect(outbox.settled[0]).to.include({ outcome: 'failed', reason: `not handled within 10 s: ${REFUSED}` });
  });

  it('is tried with one event at a time when a thousand wait, and all follow when one was handled', async () => {
    for (let n = 0; n < 1_000; n += 1) outbox.add(String(n), 'down');
    await eventually(() => outbox.begun.length >= 25);
    await outbox.clock.settle();
    const inFirstWave = outbox.begun.length;
    expect(inFirstWave).to.be.at.most(27);
    await pass(60_000);
    expect(outbox.begun.length - inFirstWave).to.be.within(3, 10);
    outbox.unreachable.delete('down');
    await pass(40_000);
    await eventually(() => outbox.settled.length === 1_000);
    expect(new Set(outbox.settled.map(({ outcome }) => outcome))).to.deep.equal(new Set(['handled']));
    expect(outbox.log.lines.map(({ msg }) => msg)).to.include('handler can be reached again');
  });

  it('does not delay other events of its handler while these succeed', async () => {
    outbox.unreachable.delete('down');
    outbox.unreachable.set('poison', 'read ECONNRESET');
    outbox.add('poison', 'down');
    await attempts('poison', 1);
    for (let n = 0; n < 100; n += 1) outbox.add(`n${n}`, 'down');
    await eventually(() => outbox.settled.length === 100);
    expect(begun('poison')).to.equal(1);
    await pass(1_000);
    await attempts('poison', 2);
  });

  it('ends after an hour, too, when only others were tried', async () => {
    for (let n = 0; n < 100; n += 1) outbox.add(String(n), 'down');
    await eventually(() => outbox.begun.length >= 25);
    await pass(HOUR_MS + 60_000, 1_000);
    await eventually(() => outbox.settled.length === 100);
    expect(new Set(outbox.settled.map(({ outcome }) => outcome))).to.deep.equal(new Set(['failed']));
    expect(outbox.pipeline.outbox.used).to.equal(0);
  });

  it('leaves half of the outbox to others: beyond that the oldest become dead letters', async () => {
    const mib = 1024 * 1024;
    for (let n = 0; n < 3; n += 1) outbox.add(`first${n}`, 'down', { bytes: mib });
    await eventually(() => outbox.begun.length >= 3);
    await outbox.clock.settle();
    for (let n = 0; n < 8; n += 1) outbox.add(`large${n}`, 'down', { bytes: 100 * mib });
    await eventually(() => outbox.settled.length >= 3);
    expect(outbox.settled.map(({ id }) => id).slice(0, 3)).to.deep.equal(['first0', 'first1', 'first2']);
    const reason = `too many events wait for handlers that cannot be reached: ${REFUSED}`;
    expect(outbox.settled[0]).to.include({ outcome: 'failed', reason, isDeadLetter: true });
    expect(outbox.pipeline.isFull).to.equal(false);
  });

  it('is skipped when its namespace is deleted', async () => {
    outbox.handler('down', 'tcp', 'dev');
    outbox.add('1', 'down', { namespace: 'dev', key: 'k' });
    outbox.add('2', 'down', { namespace: 'dev', key: 'k' });
    await attempts('1', 1);
    outbox.pipeline.dropNamespace('dev');
    await outbox.settles('1', '2');
    expect(outbox.outcome('1')).to.deep.equal({ outcome: 'skipped', reason: 'namespace was deleted' });
    await eventually(() => outbox.pipeline.outbox.used === 0);
  });
});

describe('a handler with the annotation mon.io/max-parallel', () => {
  it('runs with at most that many events at a time', async () => {
    const outbox = new OutboxInMemory();
    outbox.handler('narrow', 'pipe', 'default', { 'mon.io/max-parallel': '2' });
    outbox.hangs.add('narrow');
    for (let n = 0; n < 10; n += 1) outbox.add(String(n), 'narrow');
    await eventually(() => outbox.begun.length === 2);
    await outbox.clock.settle();
    expect(outbox.begun).to.have.lengthOf(2);
    outbox.hanging.get('0')?.();
    await eventually(() => outbox.begun.length === 3);
    const stopped = outbox.pipeline.stop();
    await outbox.clock.advance(5_000);
    await stopped;
  });
});
