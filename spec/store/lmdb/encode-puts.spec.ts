import { expect } from 'chai';
import { parseEvent } from '../../../src/resources/event.ts';
import { CODECS } from '../../../src/store/records/codecs.ts';
import { emptyPuts } from '../../../src/store/commit/decision.ts';
import { encodePuts } from '../../../src/store/lmdb/encode-puts.ts';
import { checkEvent } from '../../support/example-events.ts';

const MB = 1024 * 1024;

describe('the changes of a transaction', () => {
  async function ticksFor(values: readonly object[]): Promise<{ ticks: number; keys: string[] }> {
    const puts = emptyPuts();
    for (const [n, value] of values.entries()) puts.resources.set(`key-${n}`, value);
    puts.resources.set('deleted', null);
    let ticks = 0;
    const tables = await encodePuts(puts, {
      yieldToOthers: () => {
        ticks += 1;
        return Promise.resolve();
      },
    });
    const changes = tables.find(({ table }) => table === 'resources')?.changes ?? [];
    expect(changes.at(-1)).to.deep.equal(['deleted', null]);
    return { ticks, keys: changes.map(([key]) => key) };
  }

  it('are encoded in one tick when they are small', async () => {
    const { ticks, keys } = await ticksFor(Array.from({ length: 1_000 }, () => ({ a: 'x'.repeat(1_000) })));
    expect([ticks, keys.length]).to.deep.equal([0, 1_001]);
  });

  it('are encoded in several ticks when they are large, in the same order', async () => {
    const { ticks, keys } = await ticksFor(Array.from({ length: 6 }, () => ({ a: 'x'.repeat(3 * MB) })));
    expect(ticks).to.equal(3);
    expect(keys).to.deep.equal(['key-0', 'key-1', 'key-2', 'key-3', 'key-4', 'key-5', 'deleted']);
  });

  it('encode the event of several handlers once, and a long output in several ticks', async () => {
    const puts = emptyPuts();
    const output = '\u0001'.repeat(2_000_000);
    let reads = 0;
    const event = parseEvent(checkEvent('web-1', 'disk', {}));
    Object.defineProperty(event.check ?? {}, 'output', { get: () => ((reads += 1), output), enumerable: true });
    const shared = { namespace: 'default', key: 'default/web-1/disk', event, decidedAtMs: 1 };
    for (const handler of ['a', 'b', 'c']) puts.outbox.set(handler, { ...shared, notificationId: handler, handler });
    const ticks: number[] = [];
    const tables = await encodePuts(puts, { yieldToOthers: () => Promise.resolve(ticks.push(reads)) });
    const changes = tables.find(({ table }) => table === 'outbox')?.changes ?? [];
    const read = changes.map(([key, bytes]) => CODECS.outbox.decode(bytes ?? Buffer.alloc(0), key));
    expect(read.map(({ handler }) => handler)).to.deep.equal(['a', 'b', 'c']);
    expect(read.map(({ event: { check } }) => check?.output === output)).to.deep.equal([true, true, true]);
    // Two within the event's JSON, and one after each entry.
    expect(ticks).to.deep.equal(Array.from({ length: 5 }, () => reads));
  });
});
