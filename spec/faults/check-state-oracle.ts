/** A result as a check gives it. Thresholds in percent, 0 turns flap detection off; times in Unix seconds. */
export interface Result {
  status: number;
  executed: number;
  low: number;
  high: number;
}

/** What must be known of a check after its results. */
export interface Known {
  history: readonly { status: number; executed: number }[];
  occurrences: number;
  watermark: number;
  state: 'passing' | 'failing' | 'flapping';
  totalStateChange: number;
  lastOk: number;
}

const KEPT = 21;
/** Of the change into each entry but the oldest, added up as the rule says: 0.80, and 0.02 more for each. */
const WEIGHTS: readonly number[] = Array.from({ length: KEPT - 1 }).reduce<number[]>(
  (weights) => [...weights, weights.length === 0 ? 0.8 : (weights.at(-1) ?? 0) + 0.02],
  [],
);

/**
 * The state of a check by spec/01 8.4 to 8.6, from the whole list of its results and from nothing it said before, but for the
 * two rules that look at what was said before: the watermark and the hysteresis of flapping.
 */
export class CheckStateOracle {
  readonly #results: Result[] = [];
  #watermark = 0;
  #isFlapping = false;
  #lastOk = 0;

  after(result: Result): Known {
    this.#results.push(result);
    const history = this.#results.slice(-KEPT).map(({ status, executed }) => ({ status, executed }));
    const occurrences = this.#occurrences();
    this.#watermark = this.#watermarkAt(occurrences);
    const totalStateChange = percentOfChange(history.map(({ status }) => status));
    this.#isFlapping = this.#flaps(totalStateChange);
    const state = this.#isFlapping ? 'flapping' : result.status === 0 ? 'passing' : 'failing';
    if (state === 'passing') this.#lastOk = result.executed;
    return { history, occurrences, watermark: this.#watermark, state, totalStateChange, lastOk: this.#lastOk };
  }

  get #last(): Result {
    const last = this.#results.at(-1);
    if (last === undefined) throw new Error('there was no result yet');
    return last;
  }

  /** How many of the newest results in a row have the status of the last one. */
  #occurrences(): number {
    const other = this.#results.findLastIndex(({ status }) => status !== this.#last.status);
    return this.#results.length - 1 - other;
  }

  #watermarkAt(occurrences: number): number {
    const before = this.#results.at(-2);
    if (before?.status === 0 && this.#last.status !== 0) return 1;
    return occurrences > this.#watermark ? this.#watermark + 1 : this.#watermark;
  }

  #flaps(change: number): boolean {
    const { low, high } = this.#last;
    if (low === 0 || high === 0) return false;
    return this.#isFlapping ? change > low : change >= high;
  }
}

/** 8.5, with its single precision. */
function percentOfChange(statuses: readonly number[]): number {
  if (statuses.length < KEPT) return 0;
  const changes = WEIGHTS.filter((_, index) => statuses[index] !== statuses[index + 1]);
  const sum = Math.fround(changes.reduce((total, weight) => total + weight, 0));
  return Math.trunc(Math.fround(Math.fround(sum / 20) * 100));
}
