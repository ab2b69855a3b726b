import { expect } from 'chai';
import { influxLines } from '../../../src/main/log/influx-lines.ts';
import { writeMetrics } from '../../../src/main/log/metrics-log.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const NOW_MS = 1_764_000_000_000;

describe('the InfluxDB line protocol', () => {
  it('has a line for each value, with the labels and the backend as tags in order', () => {
    const lines = influxLines(
      [
        { name: 'up', type: 'gauge', values: [{ value: 1, labels: {} }] },
        { name: 'runs', type: 'counter', values: [{ value: 2.5, labels: { zone: 'b', app: 'a' } }] },
      ],
      'berlin',
      NOW_MS,
    );
    expect(lines).to.equal(
      'up,backend=berlin gauge=1 1764000000000000000\nruns,app=a,backend=berlin,zone=b counter=2.5 1764000000000000000\n',
    );
  });

  it('escapes commas, equals signs and blanks, and never has a line break in a record', () => {
    const labels = { 'a b': 'c,d=e', f: 'g\nh\\', empty: '' };
    const line = influxLines([{ name: 'm', type: 'gauge', values: [{ value: 1, labels }] }], 'x y', NOW_MS);
    expect(line).to.equal('m,a\\ b=c\\,d\\=e,backend=x\\ y,f=g\\ h gauge=1 1764000000000000000\n');
  });

  it('leaves out values that are no numbers, and names the parts of a histogram', () => {
    const values = [
      { value: NaN, labels: {} },
      { value: 3, labels: { le: '+Inf' }, metricName: 'd_bucket' },
    ];
    const line = influxLines([{ name: 'd', type: 'histogram', values }], 'b', NOW_MS);
    expect(line).to.equal('d_bucket,backend=b,le=+Inf histogram=3 1764000000000000000\n');
  });
});

describe('the metrics log', () => {
  it('gets the values once per interval, until it ends', async () => {
    const clock = new ManualClock(NOW_MS);
    const written: string[] = [];
    let value = 0;
    const read = () => Promise.resolve([{ name: 'n', type: 'counter', values: [{ value: (value += 1), labels: {} }] }]);
    const file = { write: (lines: string) => void written.push(lines) };
    const log = { error: () => undefined } as never;
    const end = writeMetrics({ file, read, backendName: 'b', intervalMs: 1_000, clock, log });
    await clock.advance(2_500);
    end();
    await clock.advance(5_000);
    expect(written.map((line) => line.split(' ')[1])).to.deep.equal(['counter=1', 'counter=2']);
  });
});
