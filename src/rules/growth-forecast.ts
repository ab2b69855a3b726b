const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Hourly samples of a week; the oldest goes first. */
const MAX_SAMPLES = 7 * 24;
/** A forecast needs samples over this time. */
const MIN_SPAN_MS = 2 * HOUR_MS;

interface Sample {
  atMs: number;
  bytes: number;
}

/** Forecasts when a size reaches a limit, from the straight line through hourly samples of up to a week. */
export class GrowthForecast {
  readonly #samples: Sample[] = [];

  /** Adds a size at a monotonic time, ms; ignored within an hour of the last sample. */
  add(atMs: number, bytes: number): void {
    const last = this.#samples.at(-1);
    if (last !== undefined && atMs - last.atMs < HOUR_MS) return;
    if (this.#samples.length >= MAX_SAMPLES) this.#samples.shift();
    this.#samples.push({ atMs, bytes });
  }

  /** Days from a time on until the size is `limitBytes`; undefined when it does not grow, or is not known yet. */
  daysUntil(limitBytes: number, atMs: number, bytes: number): number | undefined {
    const first = this.#samples[0];
    if (first === undefined || atMs - first.atMs < MIN_SPAN_MS) return undefined;
    const perMs = slopeOf([...this.#samples, { atMs, bytes }]);
    return perMs > 0 ? Math.max(0, (limitBytes - bytes) / perMs / DAY_MS) : undefined;
  }
}

/** The slope of the line with the least squares of distances, bytes per ms. */
function slopeOf(samples: readonly Sample[]): number {
  const mean = (of: (sample: Sample) => number): number =>
    samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length;
  const meanMs = mean(({ atMs }) => atMs);
  const meanBytes = mean(({ bytes }) => bytes);
  const variance = mean(({ atMs }) => (atMs - meanMs) ** 2);
  return variance === 0 ? 0 : mean(({ atMs, bytes }) => (atMs - meanMs) * (bytes - meanBytes)) / variance;
}
