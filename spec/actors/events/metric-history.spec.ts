import { expect } from 'chai';
import { MetricHistory } from '../../../src/actors/events/metric-history.ts';

const KEY = 'default/web-1/disk';
const NOW_S = 1_000_020;

type Tags = readonly { name: string; value: string }[];
const point = (name: string, value: number, tags: Tags = []) => ({ name, value, timestamp: 0, tags: [...tags] });

describe('the metrics of an event over the last hour', () => {
  let history: MetricHistory;

  beforeEach(() => {
    history = new MetricHistory();
  });

  const receive = (atS: number, ...points: ReturnType<typeof point>[]): void =>
    history.announced({ type: 'metrics.received', key: KEY, atS, points });
  const values = (nowS = NOW_S): number[][] => history.of(KEY, nowS).map(({ samples }) => samples.map((s) => s.value));

  it('have a series of each name and tags', () => {
    receive(NOW_S - 60, point('used', 1, [{ name: 'path', value: '/' }]), point('used', 2), point('free', 3));
    receive(NOW_S, point('used', 4));
    expect(history.of(KEY, NOW_S)).to.deep.equal([
      { name: 'used', tags: { path: '/' }, samples: [{ at: NOW_S - 60, value: 1 }] },
      {
        name: 'used',
        tags: {},
        samples: [
          { at: NOW_S - 60, value: 2 },
          { at: NOW_S, value: 4 },
        ],
      },
      { name: 'free', tags: {}, samples: [{ at: NOW_S - 60, value: 3 }] },
    ]);
    expect(history.of('default/web-2/disk', NOW_S)).to.deep.equal([]);
  });

  it('keep the last value of thirty seconds', () => {
    receive(NOW_S - 30, point('a', 1));
    receive(NOW_S - 1, point('a', 2));
    receive(NOW_S, point('a', 3));
    receive(NOW_S + 29, point('a', 4));
    expect(values(NOW_S + 29)).to.deep.equal([[2, 4]]);
  });

  it('end after an hour', () => {
    receive(NOW_S - 3_600, point('a', 1));
    receive(NOW_S - 3_599, point('b', 2));
    expect(values()).to.deep.equal([[2]]);
    for (let atS = NOW_S; atS <= NOW_S + 7_200; atS += 10) receive(atS, point('a', atS));
    const [samples = []] = values(NOW_S + 7_200);
    expect(samples).to.have.lengthOf(121);
  });

  it('begin again when the clock is set back', () => {
    receive(NOW_S, point('a', 1));
    receive(NOW_S - 1_000, point('a', 2));
    expect(values()).to.deep.equal([[2]]);
  });

  it('have at most twelve series, and a new one in place of one without values for an hour', () => {
    receive(NOW_S - 3_600, point('old', 1));
    receive(NOW_S, ...Array.from({ length: 20 }, (_, n) => point(`m${n}`, n)));
    const names = history.of(KEY, NOW_S).map(({ name }) => name);
    expect(names).to.deep.equal(Array.from({ length: 12 }, (_, n) => `m${n}`));
  });

  it('leave out long names and values that are no numbers', () => {
    receive(NOW_S, point('x'.repeat(301), 1), point('nan', NaN), point('infinite', Infinity), point('good', 1));
    expect(history.of(KEY, NOW_S).map(({ name }) => name)).to.deep.equal(['good']);
  });

  it('are kept for the thousand events that had metrics last', () => {
    receive(NOW_S, point('a', 1));
    for (let n = 0; n < 1_000; n += 1) {
      history.announced({ type: 'metrics.received', key: `default/web/${n}`, atS: NOW_S, points: [point('a', n)] });
    }
    expect(history.of(KEY, NOW_S)).to.deep.equal([]);
    expect(history.of('default/web/0', NOW_S)).to.have.lengthOf(1);
  });
});
