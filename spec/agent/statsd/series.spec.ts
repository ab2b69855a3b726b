import { expect } from 'chai';
import { SeriesTable } from '../../../src/agent/statsd/series.ts';
import { parseStatsdLine } from '../../../src/formats/statsd.ts';

function flushed(...lines: readonly string[]): { values: Record<string, number>; dropped: number } {
  const table = new SeriesTable();
  for (const line of lines) {
    const parsed = parseStatsdLine(line);
    if (parsed !== undefined) table.add(parsed, '127.0.0.1', 0);
  }
  const values = Object.fromEntries([...table.flush(0, 10)].map(({ name, value }) => [name, value]));
  return { values, dropped: table.dropped };
}

describe('the series of StatsD', () => {
  it('have finite numbers only, and the others are counted', () => {
    expect(flushed('a:1|c|@1e-320', 'b:1|c')).to.deep.equal({
      values: { 'b.value': 1, 'b.per_second': 0.1 },
      dropped: 2,
    });
    const { values, dropped } = flushed('t:1e200|ms', 't:1e200|ms');
    expect(values).to.include({ 't.min': 1e200, 't.sum': 2e200 }).and.not.to.have.property('t.sum_squares');
    expect(dropped).to.equal(2);
  });
});
