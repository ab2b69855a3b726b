import { expect } from 'chai';
import { historyAreas } from '../../web/src/pages/aggregates/history-areas.ts';

const sample = (at: number, ok: number, critical: number) => ({ at, ok, warning: 0, critical, unknown: 0 });

describe('the history of an aggregate', () => {
  it('has an area of each severity that occurs, above those that are worse', () => {
    expect(historyAreas([sample(0, 3, 1), sample(60, 2, 2)], 20)).to.deep.equal([
      { part: 'critical', path: 'M0 15L1 15L1 10L2 10L2 20L1 20L1 20L0 20Z' },
      { part: 'ok', path: 'M0 0L1 0L1 0L2 0L2 10L1 10L1 15L0 15Z' },
    ]);
  });

  it('is empty where there were no results', () => {
    expect(historyAreas([sample(0, 0, 0), sample(60, 0, 0)], 20)).to.deep.equal([]);
    const [area] = historyAreas([sample(0, 0, 0), sample(60, 1, 0)], 20);
    expect(area?.path).to.equal('M0 20L1 20L1 0L2 0L2 20L1 20L1 20L0 20Z');
  });
});
