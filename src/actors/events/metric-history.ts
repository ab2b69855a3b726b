import { LRUCache } from 'lru-cache';
import type { MetricPoint } from '../../resources/metric-point.ts';
import type { Announcement } from '../../store/commit/decision.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import type { SystemListener } from '../core/system-listeners.ts';

const KEPT_S = 3_600;
/** Later values within this time replace the sample, so that an hour has at most 121 of them. */
const SAMPLED_EVERY_S = 30;
/** The maximum number of series of an event with a history. */
const MAX_SERIES = 12;
/** The maximum number of points of one result that are read. */
const MAX_POINTS = 200;
/** The longest name of a series with a history. */
const MAX_NAME_LENGTH = 300;
/** Events whose metrics are kept; those without new metrics for the longest time are dropped first. All samples take at most 40 MB. */
const MAX_EVENTS = 1_000;

/** A value at a time, Unix seconds. */
export interface MetricSample {
  at: number;
  value: number;
}

/** The values of one metric, the oldest first. */
export interface MetricSeries {
  name: string;
  tags: Readonly<Record<string, string>>;
  samples: readonly MetricSample[];
}

interface KeptSeries extends MetricSeries {
  samples: MetricSample[];
}

/** Announces the metrics of a result, for their history. */
export function announceMetrics(ctx: DecisionContext, key: string, points: readonly MetricPoint[] | null | undefined) {
  if (points === null || points === undefined || points.length === 0) return;
  ctx.announce({ type: 'metrics.received', key, atS: Math.floor(ctx.nowMs / 1_000), points });
}

/** The metrics of the results of the last hour, in memory. They begin with the start of the backend. */
export class MetricHistory implements SystemListener {
  readonly #byEvent = new LRUCache<string, Map<string, KeptSeries>>({ max: MAX_EVENTS });

  announced(announcement: Announcement): void {
    if (announcement.type !== 'metrics.received') return;
    const { key, atS, points } = announcement;
    const series = this.#byEvent.get(key) ?? new Map<string, KeptSeries>();
    for (const { name = '', value, tags } of points.slice(0, MAX_POINTS)) add(series, { name, value, tags }, atS);
    if (series.size > 0) this.#byEvent.set(key, series);
  }

  /** The series of an event, without those that had no value in the last hour. `key` is `<namespace>/<entity>/<check>`. */
  of(key: string, nowS: number): readonly MetricSeries[] {
    const kept = this.#byEvent.peek(key)?.values() ?? [];
    return [...kept].flatMap(({ name, tags, samples }) => {
      const recent = samples.filter(({ at }) => at > nowS - KEPT_S && at <= nowS);
      return recent.length === 0 ? [] : [{ name, tags, samples: recent }];
    });
  }
}

type Point = Pick<MetricPoint, 'value' | 'tags'> & { name: string };

function add(all: Map<string, KeptSeries>, { name, value, tags }: Point, atS: number): void {
  if (!Number.isFinite(value)) return;
  const words = (tags ?? []).map((tag) => `${tag.name}=${tag.value}`);
  const id = [name, ...words.sort()].join(' ');
  if (id.length > MAX_NAME_LENGTH) return;
  let series = all.get(id);
  if (series === undefined) {
    if (all.size >= MAX_SERIES && !forgetOld(all, atS)) return;
    const named = Object.fromEntries((tags ?? []).map((tag) => [tag.name, tag.value]));
    all.set(id, (series = { name, tags: named, samples: [] }));
  }
  const { samples } = series;
  // After the clock was set back, samples of the future would stay for long.
  while ((samples.at(-1)?.at ?? 0) > atS) samples.pop();
  const last = samples.at(-1);
  if (last !== undefined && slotOf(last.at) === slotOf(atS)) samples.pop();
  samples.push({ at: atS, value });
  while ((samples[0]?.at ?? atS) <= atS - KEPT_S) samples.shift();
}

const slotOf = (atS: number): number => Math.floor(atS / SAMPLED_EVERY_S);

/** Makes room for a new series, if one had no value in the last hour. */
function forgetOld(all: Map<string, KeptSeries>, nowS: number): boolean {
  for (const [id, { samples }] of all) {
    if ((samples.at(-1)?.at ?? 0) <= nowS - KEPT_S) return all.delete(id);
  }
  return false;
}
