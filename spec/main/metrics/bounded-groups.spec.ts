import { expect } from 'chai';
import { boundedGroups } from '../../../src/main/metrics/bounded-groups.ts';
import { MAX_SERIES, OTHERS } from '../../../src/main/metrics/bounded-series.ts';

describe('the groups of stored objects', () => {
  it('are samples with a label for each part of their name', () => {
    const counts = new Map([['dev/critical/true', 2]]);
    expect(boundedGroups(counts, ['namespace', 'status', 'silenced'])).to.deep.equal([
      [2, { namespace: 'dev', status: 'critical', silenced: 'true' }],
    ]);
  });

  it('of the namespaces beyond the bound are summed, those with the fewest objects', () => {
    const counts = new Map<string, number>();
    const full = MAX_SERIES - 4;
    for (let index = 0; index < full; index += 1) counts.set(`n${index}/passing`, 10);
    counts.set('two/passing', 9).set('two/critical', 9);
    for (let index = 0; index < 3; index += 1) counts.set(`small${index}/passing`, 2).set(`small${index}/critical`, 1);
    const samples = boundedGroups(counts, ['namespace', 'status']);
    const others = samples.filter(([, { namespace }]) => namespace === OTHERS);
    expect(others).to.deep.equal([
      [4, { namespace: OTHERS, status: 'passing' }],
      [2, { namespace: OTHERS, status: 'critical' }],
    ]);
    expect(samples).to.have.length(MAX_SERIES + 2);
  });
});
