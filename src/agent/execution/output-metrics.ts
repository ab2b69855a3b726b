import { extractGraphitePlaintext } from '../../formats/metrics/graphite-plaintext.ts';
import { extractInfluxdbLine } from '../../formats/metrics/influxdb-line.ts';
import { type ExtractedPart, type Extractor, isSkipped, type MetricTag } from '../../formats/metrics/extraction.ts';
import { extractNagiosPerfdata } from '../../formats/metrics/nagios-perfdata.ts';
import { extractOpentsdbLine } from '../../formats/metrics/opentsdb-line.ts';
import { extractPrometheusText } from '../../formats/metrics/prometheus-text.ts';
import type { Log } from '../../ports/log.ts';
import type { Check } from '../../resources/check.ts';
import type { Event } from '../../resources/event.ts';
import type { MetricPoint } from '../../resources/metric-point.ts';
import { inSlices } from '../../exec/in-slices.ts';

const EXTRACTORS: Readonly<Record<string, Extractor>> = {
  graphite_plaintext: extractGraphitePlaintext,
  influxdb_line: extractInfluxdbLine,
  nagios_perfdata: extractNagiosPerfdata,
  opentsdb_line: extractOpentsdbLine,
  prometheus_text: extractPrometheusText,
};

/** The maximum number of metrics in one output, and of parts that are not metrics. Further ones are not read. */
const MAX_PARTS = 50_000;
/** The maximum number of tags of all metrics in one output. Further ones are not read. */
const MAX_TAGS = 200_000;
/** The maximum number of log lines about one output. */
const MAX_REPORTED_PARTS = 10;

export interface OutputOfCheck {
  readonly output: string;
  /** Unix seconds. */
  readonly executedS: number;
  /** Unix seconds. */
  readonly nowS: number;
}

/** Returns the metrics in the output of a check; undefined for a check without a format and without handlers of metrics. */
export async function metricsOf(
  check: Check,
  { output, executedS, nowS }: OutputOfCheck,
  log: Log,
): Promise<Event['metrics']> {
  const { output_metric_format: format, output_metric_handlers: handlers } = check;
  if (format === '' && (handlers ?? []).length === 0) return undefined;
  const extract = EXTRACTORS[format];
  if (extract === undefined) return { handlers, points: null };
  const tags = (check.output_metric_tags ?? []).map(({ name = '', value = '' }): MetricTag => ({ name, value }));
  const named = { check: check.metadata.name };
  const points = await inSlices(collected(extract(output, { tags, executedS, nowS }), named, log));
  return { handlers, points: points.length === 0 ? null : points };
}

/** Collects the metrics within their limits, and logs what is not a metric. Yields after each part. */
function* collected(
  parts: Iterable<ExtractedPart>,
  named: { readonly check: string | undefined },
  log: Log,
): Generator<undefined, MetricPoint[]> {
  const points: MetricPoint[] = [];
  let skipped = 0;
  let tags = 0;
  for (const part of parts) {
    yield;
    if (part === undefined) continue;
    const isFull = points.length + skipped >= MAX_PARTS || tags >= MAX_TAGS;
    if (isFull) {
      log.error({ ...named, metrics: points.length }, 'check output has too many metrics, leaving out the rest');
      break;
    }
    if (isSkipped(part)) {
      skipped += 1;
      const error = 'unable to extract metric from check output';
      if (skipped <= MAX_REPORTED_PARTS) log.error({ ...named, ...part.place, error }, part.reason);
    } else {
      points.push(part);
      tags += part.tags?.length ?? 0;
    }
  }
  if (skipped > MAX_REPORTED_PARTS) {
    log.error({ ...named, skipped }, 'further parts of the check output are not metrics');
  }
  return points;
}
