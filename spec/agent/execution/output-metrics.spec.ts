import { expect } from 'chai';
import { inSlices } from '../../../src/exec/in-slices.ts';
import { metricsOf } from '../../../src/agent/execution/output-metrics.ts';
import { evaluateThresholds } from '../../../src/agent/execution/thresholds.ts';
import { checkWithDefaults } from '../../../src/resources/check.ts';
import type { Event } from '../../../src/resources/event.ts';
import { RecordedLog } from '../../support/recorded-log.ts';

/** Long enough to reach each bound. An agent keeps 10 MiB of an output. */
const OUTPUT_BYTES = 2 * 1024 * 1024;
const MAX_PARTS = 50_000;
const MAX_TAGS = 200_000;

const repeated = (text: string): string => text.repeat(Math.floor(OUTPUT_BYTES / text.length));

/** A line of influxdb with thousands of fields, each of which has all tags of the line. */
const WIDE_LINE = `m${',a=b'.repeat(8_000)} ${'f=1,'.repeat(8_000)}f=1\n`;

const HOSTILE: Readonly<Record<string, readonly [format: string, output: string]>> = {
  'many metrics': ['graphite_plaintext', repeated('web.requests.count 12.5 1700000000\n')],
  'many lines that are no metrics': ['graphite_plaintext', repeated('a\n')],
  'many tags and fields in a line': ['influxdb_line', repeated(WIDE_LINE)],
  'many items of plugins': ['nagios_perfdata', `|${repeated('a=1 ')}`],
  'many blanks': ['nagios_perfdata', `|a${repeated(' ')}a`],
  'one long item': ['nagios_perfdata', `|a=${repeated('x')}`],
  'many samples': ['prometheus_text', repeated('web_requests_total{code="200",method="get"} 12.5\n')],
  'many groups of a histogram': [
    'prometheus_text',
    `# TYPE h histogram\n${Array.from({ length: 55_000 }, (_, index) => `h_bucket{path="/${index}",le="1"} 1\n`).join('')}`,
  ],
  'many families': [
    'prometheus_text',
    Array.from({ length: 60_000 }, (_, index) => `# HELP family_${index} text\n`).join(''),
  ],
  'many labels': ['prometheus_text', repeated(`m{${'a="",'.repeat(5_000)}} 1\n`)],
};

async function extracted(format: string, output: string): Promise<{ metrics: Event['metrics']; log: RecordedLog }> {
  const log = new RecordedLog();
  const check = checkWithDefaults({ metadata: { name: 'disk' }, output_metric_format: format });
  const metrics = await metricsOf(check, { output, executedS: 1_700_000_000, nowS: 1_700_000_000 }, log);
  return { metrics, log };
}

/** The longest CPU time for which `work` held the event loop, ms. */
async function longestPause(work: () => Promise<unknown>): Promise<number> {
  const cpuMs = (): number => (process.cpuUsage().user + process.cpuUsage().system) / 1_000;
  let longestMs = 0;
  let isOver = false;
  let lastMs = cpuMs();
  const look = (): void => {
    const nowMs = cpuMs();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  await work();
  isOver = true;
  return longestMs;
}

describe('the metrics in the output of a check', () => {
  for (const [what, [format, output]] of Object.entries(HOSTILE)) {
    it(`are bounded and do not block the event loop for ${what}`, async () => {
      let metrics: Event['metrics'];
      const pauseMs = await longestPause(async () => ({ metrics } = await extracted(format, output)));
      const points = metrics?.points ?? [];
      expect(points.length).to.be.at.most(MAX_PARTS);
      expect(points.reduce((sum, { tags }) => sum + (tags?.length ?? 0), 0)).to.be.below(MAX_TAGS + 20_000);
      // The bound is 100 ms. The CPU time of the collector's threads is counted too.
      expect(pauseMs).to.be.below(300);
    });
  }

  it('that are left out are logged, and so are parts that are not metrics', async () => {
    const many = await extracted('graphite_plaintext', 'a 1 1\n'.repeat(MAX_PARTS + 5));
    expect(many.log.lines.map(({ fields, msg }) => ({ ...fields, msg }))).to.deep.equal([
      { check: 'disk', metrics: MAX_PARTS, msg: 'check output has too many metrics, leaving out the rest' },
    ]);
    const bad = await extracted('graphite_plaintext', 'bad\n'.repeat(12));
    expect(bad.log.lines).to.have.lengthOf(11);
    expect(bad.log.lines.at(-1)?.msg).to.equal('further parts of the check output are not metrics');
  });

  it('are compared with the thresholds of their name only', async () => {
    const points = Array.from({ length: 50_000 }, (_, index) => ({
      name: `m${index}`,
      value: index,
      timestamp: 0,
      tags: null,
    }));
    const thresholds = Array.from({ length: 1_000 }, (_, index) => ({
      name: `m${index}`,
      tags: null,
      thresholds: [{ min: '', max: '998', status: 1 }],
      null_status: 0,
    }));
    const startedAt = process.cpuUsage();
    const { status, annotations } = await inSlices(evaluateThresholds(thresholds, points));
    expect(process.cpuUsage(startedAt).user / 1_000).to.be.below(1_000);
    expect(status).to.equal(1);
    expect(Object.keys(annotations)).to.deep.equal([
      'sensu.io/output_metric_thresholds/m999/max/warning',
      'sensu.io/notifications/warning',
    ]);
  });
});
