/** The values of one metric of the last hour, the oldest first. Times are Unix seconds. */
export interface MetricSeries {
  name: string;
  tags: Readonly<Record<string, string>>;
  samples: readonly { at: number; value: number }[];
}

const HOUR_S = 3_600;
/** So that a line of constant values is drawn in the middle, and no line touches an edge. */
const MARGIN = 0.1;

/** The path of a series in a box, whose right edge is `nowS` and whose left edge is an hour before. */
export function linePath(samples: MetricSeries['samples'], nowS: number, width: number, height: number): string {
  const values = samples.map(({ value }) => value);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const range = most - least;
  const y = (value: number): number => {
    const part = range === 0 ? 0.5 : (value - least) / range;
    return round((1 - MARGIN - part * (1 - 2 * MARGIN)) * height);
  };
  const x = (at: number): number => round(Math.max(0, 1 - (nowS - at) / HOUR_S) * width);
  return samples.map(({ at, value }, index) => `${index === 0 ? 'M' : 'L'}${x(at)} ${y(value)}`).join('');
}

const round = (value: number): number => Math.round(value * 10) / 10;

const NUMBER = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 4, notation: 'compact' });

/** A number in at most four digits, such as `4.1B`. */
export const shortNumber = (value: number): string => NUMBER.format(value);
