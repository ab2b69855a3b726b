import type { StatsdLine } from '../../formats/statsd.ts';
import { type Step, timerNumbers } from './timer-numbers.ts';

/** A series without an update for this long is forgotten. Source: spec/03 8.3. */
const SERIES_LIFE_MS = 300_000;
/** The maximum number of series. The values of further ones are dropped. */
const MAX_OPEN_SERIES = 20_000;
/** The maximum size of the names and tags of all series, bytes. */
const MAX_HELD_NAME_BYTES = 8 * 1024 * 1024;
/** Values of timers and texts of sets until the next flush. Further ones are dropped. */
const MAX_HELD_VALUES = 2_000_000;
/** Bytes of the texts of sets until the next flush. */
const MAX_HELD_TEXT_BYTES = 16 * 1024 * 1024;

/** A number of a series. */
export interface SeriesPoint {
  readonly name: string;
  readonly value: number;
  readonly tags: readonly { name: string; value: string }[];
}

interface Series {
  readonly name: string;
  readonly type: StatsdLine['type'];
  readonly tags: SeriesPoint['tags'];
  readonly keyBytes: number;
  updatedAtMs: number;
  /** The sum of a counter or the value of a gauge. */
  value: number;
  values: number[];
  texts: Set<string>;
}

/** What a flush takes from a series. */
type Taken = Pick<Series, 'name' | 'type' | 'tags' | 'value' | 'values' | 'texts'>;

function takenFrom(series: Series): Taken {
  const { name, type, tags, value, values, texts } = series;
  if (type !== 'gauge') series.value = 0;
  if (values.length > 0) series.values = [];
  if (texts.size > 0) series.texts = new Set();
  return { name, type, tags, value, values, texts };
}

const ORDER: readonly StatsdLine['type'][] = ['counter', 'timer', 'gauge', 'set'];

/** Aggregates lines between two flushes, by name, tags and sender. */
export class SeriesTable {
  readonly #series = new Map<string, Series>();
  #nameBytes = 0;
  #heldValues = 0;
  #heldTextBytes = 0;
  #dropped = 0;

  get size(): number {
    return this.#series.size;
  }

  /** Values that were dropped since the start, at a limit or because they are not finite. */
  get dropped(): number {
    return this.#dropped;
  }

  /** @param atMs on a monotonic clock */
  add(line: StatsdLine, sender: string, atMs: number): void {
    const series = this.#seriesOf(line, sender, atMs);
    if (series === undefined) {
      this.#dropped += 1;
      return;
    }
    series.updatedAtMs = atMs;
    if (line.type === 'counter') series.value += Math.trunc(line.value / line.rate);
    else if (line.type === 'gauge') series.value = line.value;
    else this.#hold(series, line);
  }

  /**
   * Forgets series without updates, and returns the points of the others. Their values are reset at once, except those of gauges; the
   * points are calculated when they are read. Steps without a point are yielded in between, so that a series with many values does not
   * block the event loop.
   */
  flush(atMs: number, elapsedS: number): Iterable<SeriesPoint | Step> {
    for (const [key, series] of this.#series) {
      if (atMs - series.updatedAtMs < SERIES_LIFE_MS) continue;
      this.#series.delete(key);
      this.#nameBytes -= series.keyBytes;
    }
    const taken = [...this.#series.values()].map(takenFrom);
    this.#heldValues = 0;
    this.#heldTextBytes = 0;
    return this.#pointsOf(taken, elapsedS);
  }

  *#pointsOf(taken: readonly Taken[], elapsedS: number): Iterable<SeriesPoint | Step> {
    for (const type of ORDER) {
      for (const series of taken) {
        if (series.type !== type) continue;
        for (const [suffix, value] of yield* numbersOf(series, elapsedS)) {
          // Sums and rates of large values may be infinite, which JSON cannot express.
          if (Number.isFinite(value)) yield { name: `${series.name}.${suffix}`, value, tags: series.tags };
          else this.#dropped += 1;
        }
      }
    }
  }

  #hold(series: Series, { type, value, text }: StatsdLine): void {
    const isKnown = type === 'set' && series.texts.has(text);
    if (isKnown) return;
    const isFull = this.#heldValues >= MAX_HELD_VALUES || this.#heldTextBytes + text.length > MAX_HELD_TEXT_BYTES;
    if (isFull) {
      this.#dropped += 1;
      return;
    }
    this.#heldValues += 1;
    if (type === 'set') {
      this.#heldTextBytes += text.length;
      series.texts.add(text);
    } else {
      series.values.push(value);
    }
  }

  #seriesOf({ name, type, tags }: StatsdLine, sender: string, atMs: number): Series | undefined {
    const key = `${type} ${name} ${sender} ${tags.join(',')}`;
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    if (this.#series.size >= MAX_OPEN_SERIES || this.#nameBytes + key.length > MAX_HELD_NAME_BYTES) return undefined;
    this.#nameBytes += key.length;
    const series: Series = {
      name,
      type,
      tags: [...tags.map(tagOf), { name: 's', value: sender }],
      keyBytes: key.length,
      updatedAtMs: atMs,
      value: 0,
      values: [],
      texts: new Set(),
    };
    this.#series.set(key, series);
    return series;
  }
}

/** The value of a tag is its second part. */
function tagOf(tag: string): { name: string; value: string } {
  const [name = '', value = ''] = tag.split(':');
  return { name, value };
}

function* numbersOf({ type, value, values, texts }: Taken, elapsedS: number): Generator<Step, [string, number][]> {
  if (type === 'gauge') return [['value', value]];
  if (type === 'set') return [['value', texts.size]];
  if (type === 'timer') return yield* timerNumbers(values, elapsedS);
  return [
    ['value', value],
    ['per_second', value / elapsedS],
  ];
}
