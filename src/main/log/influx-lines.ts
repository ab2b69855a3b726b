/** A metric as the registry gives it. */
export interface MetricFamily {
  name: string;
  /** `counter`, `gauge`, `histogram` or `summary`. */
  type: unknown;
  values: readonly { value: number; labels: Readonly<Record<string, unknown>>; metricName?: string }[];
}

/** Commas, equals signs and blanks need a backslash. A line break would end the record. */
const escaped = (text: string): string => text.replaceAll(/[\r\n]/g, ' ').replaceAll(/[,= ]/g, '\\$&');

/** Tags with an empty value are not allowed. A backslash at the end would escape the separator. */
const tagsOf = (tags: Readonly<Record<string, unknown>>): string =>
  Object.entries(tags)
    .map(([key, value]) => [key, String(value).replace(/\\+$/, '')] as const)
    .filter(([, value]) => value !== '')
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `,${escaped(key)}=${escaped(value)}`)
    .join('');

/**
 * One line in the InfluxDB line protocol for each value: the metric, its labels and `backend` as tags, and one field, which is
 * named after the type of the metric: `counter`, `gauge`, `histogram` or `summary`. Values that are not numbers are left out.
 */
export function influxLines(families: readonly MetricFamily[], backend: string, nowMs: number): string {
  const time = `${BigInt(Math.trunc(nowMs)) * 1_000_000n}`;
  return families
    .flatMap(({ name, type, values }) =>
      values
        .filter(({ value }) => Number.isFinite(value))
        .map(({ value, labels, metricName = name }) => {
          return `${escaped(metricName)}${tagsOf({ ...labels, backend })} ${String(type)}=${value} ${time}\n`;
        }),
    )
    .join('');
}
