import { expect } from 'chai';
import fc from 'fast-check';
import {
  type ExtractionContext,
  type Extractor,
  isSkipped,
  type SkippedPart,
} from '../../../src/formats/metrics/extraction.ts';
import { extractGraphitePlaintext } from '../../../src/formats/metrics/graphite-plaintext.ts';
import { extractInfluxdbLine } from '../../../src/formats/metrics/influxdb-line.ts';
import { extractNagiosPerfdata } from '../../../src/formats/metrics/nagios-perfdata.ts';
import { extractOpentsdbLine } from '../../../src/formats/metrics/opentsdb-line.ts';
import { extractPrometheusText } from '../../../src/formats/metrics/prometheus-text.ts';
import type { MetricPoint } from '../../../src/resources/metric-point.ts';

const CONTEXT: ExtractionContext = {
  tags: [{ name: 'region', value: 'eu' }],
  executedS: 1_700_000_100,
  nowS: 1_700_000_200,
};
const REGION = { name: 'region', value: 'eu' };

const FORMATS: Readonly<Record<string, Extractor>> = {
  nagios_perfdata: extractNagiosPerfdata,
  graphite_plaintext: extractGraphitePlaintext,
  influxdb_line: extractInfluxdbLine,
  opentsdb_line: extractOpentsdbLine,
  prometheus_text: extractPrometheusText,
};

/** Takes all that an extractor yields. */
function extracted(extract: Extractor, output: string): { points: MetricPoint[]; skipped: SkippedPart[] } {
  const parts = [...extract(output, CONTEXT)].filter((part) => part !== undefined);
  return { points: parts.filter((part): part is MetricPoint => !isSkipped(part)), skipped: parts.filter(isSkipped) };
}

const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,12}$/);
const value = fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 }).map((number) => number + 0);
const seconds = fc.integer({ min: 1, max: 2 ** 31 });
const tag = fc.record({ name: name.filter((text) => text !== 'region'), value: name });
const tagText = (tags: readonly { name: string; value: string }[], separator: string): string =>
  tags.map((each) => `${separator}${each.name}=${each.value}`).join('');
const uniqueTags = (minLength: number) =>
  fc.uniqueArray(tag, { minLength, maxLength: 4, selector: (each) => each.name });

describe('the extraction of metrics', () => {
  for (const [format, extract] of Object.entries(FORMATS)) {
    it(`of ${format} takes any text, and yields finite numbers only`, () => {
      const pieces = fc.constantFrom(
        'a',
        '|',
        '=',
        ' ',
        ';',
        ',',
        '\n',
        '1',
        '.',
        '-',
        'e',
        '#',
        '{',
        '}',
        '"',
        '\\',
        'TYPE',
        'NaN',
      );
      const texts = fc.oneof(
        fc.string({ unit: 'grapheme' }),
        fc.array(pieces, { maxLength: 60 }).map((all) => all.join('')),
      );
      fc.assert(
        fc.property(texts, (output) => {
          for (const point of extracted(extract, output).points) {
            expect(Number.isFinite(point.value)).to.equal(true);
            expect(Number.isSafeInteger(point.timestamp)).to.equal(true);
          }
        }),
      );
    });

    it(`of ${format} takes time linear in the output`, () => {
      const hostile = [
        'a;'.repeat(500_000),
        '{'.repeat(1_000_000),
        'a="'.repeat(300_000),
        '# TYPE '.repeat(150_000),
        '\n'.repeat(1_000_000),
      ];
      for (const output of hostile) {
        const startedMs = performance.now();
        extracted(extract, output);
        expect(performance.now() - startedMs).to.be.below(2_000);
      }
    });
  }

  it('of graphite_plaintext reads what was written', () => {
    fc.assert(
      fc.property(name, uniqueTags(0), value, seconds, (metric, tags, number, timestamp) => {
        const { points } = extracted(
          extractGraphitePlaintext,
          `${metric}${tagText(tags, ';')} ${number} ${timestamp}\n`,
        );
        expect(points).to.deep.equal([{ name: metric, value: number, timestamp, tags: [REGION, ...tags] }]);
      }),
    );
  });

  it('of influxdb_line reads a point for each field', () => {
    fc.assert(
      fc.property(
        name,
        uniqueTags(0),
        fc.array(fc.tuple(name, value), { minLength: 1, maxLength: 4 }),
        seconds,
        (metric, tags, fields, timestamp) => {
          const list = fields.map(([field, number]) => `${field}=${number}`).join(',');
          const time = `${String(timestamp).padStart(10, '0')}000000000`;
          const { points } = extracted(extractInfluxdbLine, `${metric}${tagText(tags, ',')} ${list} ${time}`);
          expect(points).to.deep.equal(
            fields.map(([field, number]) => ({
              name: `${metric}.${field}`,
              value: number,
              timestamp,
              tags: [...tags, REGION],
            })),
          );
        },
      ),
    );
  });

  it('of opentsdb_line reads what was written', () => {
    fc.assert(
      fc.property(name, uniqueTags(1), value, seconds, (metric, tags, number, timestamp) => {
        const { points } = extracted(extractOpentsdbLine, `${metric} ${timestamp} ${number}${tagText(tags, ' ')}`);
        expect(points).to.deep.equal([{ name: metric, value: number, timestamp, tags: [...tags, REGION] }]);
      }),
    );
  });

  it('of prometheus_text reads labels with any characters', () => {
    const label = fc.tuple(
      name.filter((text) => text !== 'region' && text !== 'le'),
      fc.string({ unit: 'grapheme' }),
    );
    const labels = fc.uniqueArray(label, { maxLength: 4, selector: ([key]) => key });
    const escaped = (text: string): string =>
      text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
    fc.assert(
      fc.property(name, labels, value, (metric, pairs, number) => {
        fc.pre(pairs.every(([, text]) => !text.includes('\r')));
        const list = pairs.map(([key, text]) => `${key}="${escaped(text)}"`).join(',');
        const { points } = extracted(extractPrometheusText, `${metric}{${list}} ${number}\n`);
        const tags = [
          ...pairs.map(([key, text]) => ({ name: key, value: text })),
          { name: 'prom_type', value: 'untyped' },
          REGION,
        ];
        expect(points).to.deep.equal([{ name: metric, value: number, timestamp: CONTEXT.nowS, tags }]);
      }),
    );
  });

  it('gives each series tags of its own', () => {
    const { points } = extracted(extractGraphitePlaintext, 'a;x=1 1 1700000000\nb;y=2 2 1700000000');
    expect(points.map(({ tags }) => tags?.at(-1))).to.deep.equal([
      { name: 'x', value: '1' },
      { name: 'y', value: '2' },
    ]);
  });

  it('names the line that is not a metric, and the rule', () => {
    expect(extracted(extractGraphitePlaintext, 'a 1 1700000000\nbad\n').skipped).to.deep.equal([
      { place: { line: 1 }, reason: 'graphite plain text format requires exactly 3 arguments' },
    ]);
    expect(extracted(extractPrometheusText, 'a 1\nb{ 2\nc 3\n').skipped).to.deep.equal([
      { place: { line: 1 }, reason: 'prometheus text requires labels of the form name="value"' },
    ]);
  });
});
