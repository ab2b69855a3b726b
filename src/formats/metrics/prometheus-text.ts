import type { MetricPoint } from '../../resources/metric-point.ts';
import {
  type ExtractedPart,
  type ExtractionContext,
  type Extractor,
  isFinitePoint,
  type MetricTag,
} from './extraction.ts';
import { type PrometheusFamily, type PrometheusSample, readPrometheus } from './prometheus-reader.ts';

/** The label of a group's own points, by the type of its family. */
const GROUP_LABELS: Readonly<Record<string, string>> = { summary: 'quantile', histogram: 'le' };

/** The samples of a summary or histogram with the same labels. */
interface Group {
  readonly labels: readonly MetricTag[];
  readonly parts: PrometheusSample[];
  sum: number;
  count: number;
  timestampMs: number | undefined;
}

/** The exposition format 0.0.4. What precedes the first error is kept. Source: spec/03 8.1. */
export const extractPrometheusText: Extractor = function* (output, context): Generator<ExtractedPart> {
  const { families, error } = yield* readPrometheus(output);
  for (const family of families) {
    yield undefined;
    for (const point of pointsOf(family, context))
      yield point === undefined || isFinitePoint(point) ? point : undefined;
  }
  if (error !== undefined) yield { place: { line: error.line }, reason: error.reason };
};

function* pointsOf(family: PrometheusFamily, context: ExtractionContext): Generator<MetricPoint | undefined> {
  const point = (name: string, labels: readonly MetricTag[], value: number, timestampMs?: number): MetricPoint => ({
    name,
    value,
    timestamp: timestampMs === undefined ? context.nowS : Math.trunc(timestampMs / 1_000),
    tags: tagsOf(family, labels, context),
  });
  const label = GROUP_LABELS[family.type];
  if (label === undefined) {
    for (const { name, labels, value, timestampMs } of family.samples) yield point(name, labels, value, timestampMs);
    return;
  }
  for (const { labels, parts, sum, count, timestampMs } of yield* groupsOf(family, label)) {
    for (const part of parts) yield point(part.name, part.labels, part.value, timestampMs);
    yield point(`${family.name}_sum`, labels, sum, timestampMs);
    yield point(`${family.name}_count`, labels, count, timestampMs);
    if (family.type !== 'histogram' || parts.some(hasInfiniteBound)) continue;
    yield point(`${family.name}_bucket`, [...labels, { name: 'le', value: '+Inf' }], count, timestampMs);
  }
}

/** Yields after each sample, so that the caller may pause. */
function* groupsOf(family: PrometheusFamily, label: string): Generator<undefined, Group[]> {
  const groups = new Map<string, Group>();
  for (const sample of family.samples) {
    yield;
    const labels = sample.labels.filter(({ name }) => name !== label);
    const key = JSON.stringify(
      labels.map(({ name, value }) => JSON.stringify([name, value])).toSorted((one, other) => (one < other ? -1 : 1)),
    );
    let group = groups.get(key);
    if (group === undefined) {
      group = { labels, parts: [], sum: 0, count: 0, timestampMs: undefined };
      groups.set(key, group);
    }
    group.timestampMs = sample.timestampMs ?? group.timestampMs;
    if (sample.name === `${family.name}_sum`) group.sum = sample.value;
    else if (sample.name === `${family.name}_count`) group.count = sample.value;
    else group.parts.push(sample);
  }
  return [...groups.values()];
}

const hasInfiniteBound = ({ labels }: PrometheusSample): boolean =>
  labels.some(({ name, value }) => name === 'le' && value === '+Inf');

/** Later tags replace earlier ones of the same name. */
function tagsOf(family: PrometheusFamily, labels: readonly MetricTag[], { tags }: ExtractionContext): MetricTag[] {
  const all = new Map<string, string>();
  for (const { name, value } of labels) all.set(name, value);
  all.set('prom_type', family.type);
  if (family.help !== undefined) all.set('prom_help', family.help);
  for (const { name, value } of tags) all.set(name, value);
  return [...all].map(([name, value]) => ({ name, value }));
}
