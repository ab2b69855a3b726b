import { expect } from 'chai';
import { type SeriesPoint, SeriesTable } from '../../../src/agent/statsd/series.ts';
import { parseStatsdLine } from '../../../src/formats/statsd.ts';

const pointsOf = (flush: Iterable<SeriesPoint | undefined>): SeriesPoint[] =>
  [...flush].filter((point) => point !== undefined);

function flushed(...lines: readonly string[]): { values: Record<string, number>; dropped: number } {
  const table = new SeriesTable();
  for (const line of lines) {
    const parsed = parseStatsdLine(line);
    if (parsed !== undefined) table.add(parsed, '127.0.0.1', 0);
  }
  const values = Object.fromEntries(pointsOf(table.flush(0, 10)).map(({ name, value }) => [name, value]));
  return { values, dropped: table.dropped };
}

describe('the series of StatsD', () => {
  it('start again at a flush, also while its points are still being read', () => {
    const table = new SeriesTable();
    const add = (line: string): void => {
      const parsed = parseStatsdLine(line);
      if (parsed !== undefined) table.add(parsed, '127.0.0.1', 0);
    };
    for (const line of ['a:1|c', 'b:2|c', 't:3|ms', 'g:4|g', 's:x|s']) add(line);
    const read: [string, number][] = [];
    for (const point of table.flush(0, 10)) {
      if (point === undefined) continue;
      const { name, value } = point;
      if (read.length === 0) for (const line of ['b:10|c', 't:20|ms', 'g:30|g', 's:y|s']) add(line);
      read.push([name, value]);
    }
    const sums = { 'a.value': 1, 'b.value': 2, 't.sum': 3, 'g.value': 4, 's.value': 1 };
    expect(Object.fromEntries(read)).to.include(sums);
    const next = Object.fromEntries(pointsOf(table.flush(0, 10)).map(({ name, value }) => [name, value]));
    expect(next).to.include({ 'a.value': 0, 'b.value': 10, 't.sum': 20, 'g.value': 30, 's.value': 1 });
  });

  it('contain finite numbers only, and count the others', () => {
    expect(flushed('a:1|c|@1e-320', 'b:1|c')).to.deep.equal({
      values: { 'b.value': 1, 'b.per_second': 0.1 },
      dropped: 2,
    });
    const { values, dropped } = flushed('t:1e200|ms', 't:1e200|ms');
    expect(values).to.include({ 't.min': 1e200, 't.sum': 2e200 }).and.not.to.have.property('t.sum_squares');
    expect(dropped).to.equal(2);
  });
});
