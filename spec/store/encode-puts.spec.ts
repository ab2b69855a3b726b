import { expect } from 'chai';
import { emptyPuts } from '../../src/store/decision.ts';
import { encodePuts } from '../../src/store/encode-puts.ts';

const MB = 1024 * 1024;

describe('the changes of a transaction', () => {
  async function ticksFor(values: readonly object[]): Promise<{ ticks: number; keys: string[] }> {
    const puts = emptyPuts();
    for (const [n, value] of values.entries()) puts.resources.set(`key-${n}`, value);
    puts.resources.set('deleted', null);
    let ticks = 0;
    const tables = await encodePuts(puts, () => {
      ticks += 1;
      return Promise.resolve();
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
});
