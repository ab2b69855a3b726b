import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { CorruptRecord } from '../../src/store/encoding/sealed.ts';
import { OutboxInMemory } from './outbox-in-memory.ts';

describe('the pipeline', () => {
  let outbox: OutboxInMemory;

  beforeEach(() => {
    outbox = new OutboxInMemory();
    for (const name of ['hangs', 'fine']) outbox.handler(name);
    outbox.hangs.add('hangs');
  });

  afterEach(async () => {
    const stopped = outbox.pipeline.stop();
    await outbox.clock.advance(5_000);
    await stopped;
  });

  it('runs other handlers while one hangs with a thousand notifications', async () => {
    for (let n = 0; n < 1_000; n += 1) outbox.add(`h${n}`, 'hangs');
    outbox.add('f', 'fine');
    await outbox.settles('f');
    expect(outbox.begun).to.have.lengthOf(26);
  });

  it('runs the handlers of a key one after the other while each ends within two seconds', async () => {
    outbox.add('1', 'hangs', { key: 'a' });
    outbox.add('2', 'fine', { key: 'a' });
    outbox.add('3', 'hangs', { key: 'a' });
    outbox.add('4', 'fine', { key: 'b' });
    await outbox.settles('4');
    await outbox.clock.advance(1_999);
    expect(outbox.begun).to.deep.equal(['1', '4']);
    outbox.hanging.get('1')?.();
    await outbox.settles('1', '2');
    await eventually(() => outbox.begun.length === 4);
    expect(outbox.begun).to.deep.equal(['1', '4', '2', '3']);
  });

  it('runs the other handlers of a key after two seconds while one hangs, whose later events wait', async () => {
    for (let n = 0; n < 3; n += 1) {
      outbox.add(`h${n}`, 'hangs', { key: 'a' });
      outbox.add(`f${n}`, 'fine', { key: 'a' });
    }
    await outbox.clock.advance(2_000);
    await outbox.settles('f0', 'f1', 'f2');
    outbox.add('h3', 'hangs', { key: 'a' });
    outbox.add('f3', 'fine', { key: 'a' });
    await outbox.settles('f3');
    expect(outbox.begun).to.deep.equal(['h0', 'f0', 'f1', 'f2', 'f3']);
    for (let n = 0; n < 4; n += 1) {
      await eventually(() => outbox.hanging.has(`h${n}`));
      outbox.hanging.get(`h${n}`)?.();
      await outbox.settles(`h${n}`);
    }
    await eventually(() => outbox.pipeline.outbox.used === 0);
  });

  it('delays a handler by two seconds in total, however many handlers of its event hang', async () => {
    for (let n = 0; n < 20; n += 1) {
      outbox.handler(`hangs${n}`);
      outbox.hangs.add(`hangs${n}`);
      outbox.add(`h${n}`, `hangs${n}`, { key: 'a' });
    }
    outbox.add('f', 'fine', { key: 'a' });
    await outbox.clock.advance(2_000);
    await outbox.settles('f');
    expect(outbox.begun).to.have.lengthOf(21);
  });

  it('skips a handler whose type has changed, with the reason', async () => {
    outbox.handler('fine', 'set');
    outbox.add('1', 'fine');
    await outbox.settles('1');
    expect(outbox.begun).to.deep.equal([]);
    expect(outbox.outcome('1')).to.deep.equal({ outcome: 'skipped', reason: 'handler is of type set now' });
    expect(outbox.pipeline.runs).to.deep.equal({ handled: 0, failed: 0 });
  });

  it('skips a deleted handler, with the reason', async () => {
    outbox.add('1', 'gone');
    outbox.add('2', 'fine', { namespace: 'ended' });
    await outbox.settles('1', '2');
    expect(outbox.outcome('1')).to.deep.equal({ outcome: 'skipped', reason: 'handler does not exist' });
    expect(outbox.outcome('2')).to.deep.equal({ outcome: 'skipped', reason: 'namespace was deleted' });
  });

  it('drops waiting notifications of a deleted namespace only, even if it exists again', async () => {
    for (const name of ['hangs', 'fine']) outbox.handler(name, 'pipe', 'dev');
    for (let n = 0; n < 250; n += 1) outbox.add(`h${n}`, 'hangs', { namespace: 'dev', key: `k${n}` });
    for (let n = 0; n < 250; n += 1) outbox.add(`f${n}`, 'fine', { namespace: 'dev', key: `k${n}` });
    outbox.add('default', 'hangs', { key: 'k0' });
    outbox.add('other', 'fine', { key: 'k0' });
    await eventually(() => outbox.begun.length === 26);
    outbox.pipeline.dropNamespace('dev');
    await eventually(() => outbox.settled.length === 475, Boolean, { what: 'everything that waited' });
    expect(new Set(outbox.settled.map(({ id }) => id)).size).to.equal(475);
    for (const { outcome, reason } of outbox.settled) {
      expect({ outcome, reason }).to.deep.equal({ outcome: 'skipped', reason: 'namespace was deleted' });
    }
    expect(outbox.pipeline.outbox.used).to.equal(27);
    expect(outbox.begun).to.have.lengthOf(26);
    for (const end of outbox.hanging.values()) end();
    await outbox.settles('default', 'other');
    outbox.add('anew', 'fine', { namespace: 'dev', key: 'k0' });
    await outbox.settles('anew');
    await eventually(() => outbox.pipeline.outbox.used === 0);
    expect(outbox.outcome('anew')).to.deep.equal({ outcome: 'handled', reason: '' });
  });

  it('is full by number and by bytes until there is room again', async () => {
    const mib = 1024 * 1024;
    outbox.add('1', 'hangs', { bytes: 1023 * mib });
    expect(outbox.pipeline.isFull).to.equal(false);
    outbox.add('2', 'hangs', { bytes: mib });
    expect(outbox.pipeline.isFull).to.equal(true);
    expect(outbox.pipeline.outboxBytes).to.deep.equal({ used: 1024 * mib, limit: 1024 * mib });
    await eventually(() => outbox.hanging.has('2'));
    outbox.hanging.get('2')?.();
    await outbox.settles('2');
    await eventually(() => !outbox.pipeline.isFull);
    for (let n = 0; n < 100_000; n += 1) outbox.add(`n${n}`, 'hangs', { bytes: 1 });
    expect(outbox.pipeline.isFull).to.equal(true);
  });

  it('handles a large event in a later tick of the event loop than it reads it', async () => {
    outbox.add('small', 'hangs');
    outbox.add('large', 'hangs', { bytes: 5 * 1024 * 1024 });
    for (let microtasks = 0; microtasks < 100; microtasks += 1) await Promise.resolve();
    expect(outbox.begun).to.deep.equal(['small']);
    await eventually(() => outbox.begun.length === 2);
    expect(outbox.begun).to.deep.equal(['small', 'large']);
  });

  it('retries to store an outcome without running the handler again', async () => {
    outbox.failures = 2;
    outbox.add('1', 'fine');
    await outbox.clock.advance(2_000);
    await outbox.settles('1');
    expect(outbox.begun).to.deep.equal(['1']);
  });

  it('continues without an outcome that cannot be stored although the store can be written, and logs it once', async () => {
    outbox.failures = 1;
    outbox.failure = new CorruptRecord('notificationLog a: checksum does not match');
    for (const n of ['1', '2']) outbox.add(n, 'fine', { key: 'same' });
    await outbox.clock.advance(2_000);
    await outbox.settles('2');
    expect([outbox.begun, [...outbox.entries.keys()]]).to.deep.equal([['1', '2'], ['1']]);
    expect(outbox.log.errors.map(({ msg }) => msg)).to.deep.equal([
      'the outcome of a handler cannot be stored; the handler runs again after the next start',
    ]);
  });

  it('aborts handlers that hang when it stops, and keeps them in the outbox', async () => {
    outbox.add('1', 'hangs');
    const stopped = outbox.pipeline.stop();
    await outbox.clock.advance(5_000);
    await stopped;
    expect(outbox.settled).to.deep.equal([]);
    expect([...outbox.entries.keys()]).to.deep.equal(['1']);
  });

  it('settles a handler that has done its work when it is aborted, so that it does not run again', async () => {
    outbox.handledWhenAborted.add('hangs');
    outbox.add('1', 'hangs');
    const stopped = outbox.pipeline.stop();
    await outbox.clock.advance(5_000);
    await stopped;
    expect(outbox.outcome('1')).to.deep.equal({ outcome: 'handled', reason: '' });
    expect([...outbox.entries.keys()]).to.deep.equal([]);
  });

  describe('when a handler cannot be started because descriptors, processes or memory are used up', () => {
    const settle = (): Promise<unknown> => outbox.clock.advance(0);

    it('keeps the notification in the outbox, and runs the handler when it can be started', async () => {
      outbox.shortOf.add('fine');
      outbox.add('1', 'fine');
      await settle();
      expect([...outbox.entries.keys()]).to.deep.equal(['1']);
      expect(outbox.pipeline.running.used).to.equal(0);
      expect(outbox.pipeline.outbox.used).to.equal(1);
      outbox.shortOf.clear();
      await outbox.clock.advance(250);
      await outbox.settles('1');
      expect(outbox.outcome('1')).to.deep.equal({ outcome: 'handled', reason: '' });
      expect(outbox.begun).to.deep.equal(['1', '1']);
      expect(outbox.pipeline.runs).to.deep.equal({ handled: 1, failed: 0 });
    });

    it('tries again after a quarter of a second, and later each time up to ten seconds, with a line in the log each time', async () => {
      outbox.shortOf.add('fine');
      outbox.add('1', 'fine');
      for (const [index, delayMs] of [250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000].entries()) {
        await outbox.clock.advance(delayMs - 1);
        expect(outbox.begun).to.have.lengthOf(index + 1);
        await outbox.clock.advance(1);
        expect(outbox.begun).to.have.lengthOf(index + 2);
      }
      const lines = outbox.log.lines.filter(({ msg }) => msg.startsWith('could not start a handler'));
      expect(lines.map(({ fields }) => fields['retry_in_ms'])).to.deep.equal([
        250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000, 10_000,
      ]);
      expect(lines[0]?.fields).to.deep.include({ namespace: 'default', handler: 'fine', reason: 'spawn sh EMFILE' });
    });

    it('keeps the order of its events of a key, and runs other handlers meanwhile', async () => {
      outbox.handler('other');
      outbox.shortOf.add('fine');
      outbox.add('1', 'fine', { key: 'a' });
      outbox.add('2', 'other', { key: 'a' });
      outbox.add('3', 'fine', { key: 'a' });
      outbox.add('4', 'other', { key: 'b' });
      await outbox.settles('4');
      expect(outbox.begun).to.deep.equal(['1', '4']);
      await outbox.clock.advance(2_000);
      await outbox.settles('2');
      outbox.shortOf.clear();
      await outbox.clock.advance(2_000);
      await outbox.settles('1', '3');
      expect(outbox.settled.map(({ id }) => id)).to.deep.equal(['4', '2', '1', '3']);
    });

    it('tries at most 25 of a thousand notifications at a time', async () => {
      outbox.shortOf.add('fine');
      for (let n = 0; n < 1_000; n += 1) outbox.add(`${n}`, 'fine');
      await settle();
      expect(outbox.begun).to.have.length.of.at.most(25);
      const before = outbox.begun.length;
      await outbox.clock.advance(250);
      expect(outbox.begun.length - before).to.be.within(1, 25);
      outbox.shortOf.clear();
      await outbox.clock.advance(500);
      await eventually(() => outbox.settled.length === 1_000);
      expect(new Set(outbox.settled.map(({ id }) => id)).size).to.equal(1_000);
      expect(outbox.settled.map(({ id }) => Number(id))).to.deep.equal(Array.from({ length: 1_000 }, (_, n) => n));
    });

    it('skips the notification when its namespace is deleted', async () => {
      outbox.handler('fine', 'pipe', 'dev');
      outbox.shortOf.add('fine');
      outbox.add('1', 'fine', { namespace: 'dev' });
      await settle();
      outbox.pipeline.dropNamespace('dev');
      await outbox.settles('1');
      await outbox.clock.advance(10_000);
      expect(outbox.begun).to.deep.equal(['1']);
      expect(outbox.pipeline.outbox.used).to.equal(0);
    });

    it('leaves the notification in the outbox when it stops', async () => {
      outbox.shortOf.add('fine');
      outbox.add('1', 'fine');
      await settle();
      await outbox.pipeline.stop();
      outbox.shortOf.clear();
      await outbox.clock.advance(10_000);
      expect(outbox.begun).to.deep.equal(['1']);
      expect([...outbox.entries.keys()]).to.deep.equal(['1']);
    });
  });
});
