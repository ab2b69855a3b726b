/** A result of a check. Thresholds in percent, 0 turns flap detection off; times in Unix seconds. */
export interface CheckResult {
  status: number;
  executed: number;
  lowFlap: number;
  highFlap: number;
}

/** The state of a check that must be stored after its results. */
export interface ExpectedCheckState {
  /** All of them, oldest first. */
  results: readonly CheckResult[];
  status: number;
  history: readonly { status: number; executed: number }[];
  occurrences: number;
  watermark: number;
  state: 'passing' | 'failing' | 'flapping';
  totalStateChange: number;
  lastOk: number;
}

const HISTORY_LENGTH = 21;
/** The weight of the change into each entry but the oldest: 0.80, and 0.02 more for each newer one. */
const WEIGHTS: readonly number[] = Array.from({ length: HISTORY_LENGTH - 1 }).reduce<number[]>(
  (weights) => [...weights, weights.length === 0 ? 0.8 : (weights.at(-1) ?? 0) + 0.02],
  [],
);

/**
 * Returns the state of a check by sections 8.4 to 8.6 of spec/01. It is computed from the whole list of results; only the watermark,
 * the time of the last success and the hysteresis of flapping depend on the previous state.
 */
export function checkStateAfter(before: ExpectedCheckState | undefined, result: CheckResult): ExpectedCheckState {
  const results = [...(before?.results ?? []), result];
  const { status, executed } = result;
  const history = results.slice(-HISTORY_LENGTH).map((entry) => ({ status: entry.status, executed: entry.executed }));
  const occurrences = results.length - 1 - results.findLastIndex((other) => other.status !== status);
  const isNewIncident = results.at(-2)?.status === 0 && status !== 0;
  const watermark = isNewIncident ? 1 : nextWatermark(before?.watermark ?? 0, occurrences);
  const totalStateChange = percentOfChange(history.map((entry) => entry.status));
  const state = stateOf(before?.state === 'flapping', totalStateChange, result);
  const lastOk = state === 'passing' ? executed : (before?.lastOk ?? 0);
  return { results, status, history, occurrences, watermark, state, totalStateChange, lastOk };
}

const nextWatermark = (watermark: number, occurrences: number): number =>
  occurrences > watermark ? watermark + 1 : watermark;

/** Section 8.5, with its single precision. */
function percentOfChange(statuses: readonly number[]): number {
  if (statuses.length < HISTORY_LENGTH) return 0;
  const changes = WEIGHTS.filter((_, index) => statuses[index] !== statuses[index + 1]);
  const sum = Math.fround(changes.reduce((total, weight) => total + weight, 0));
  return Math.trunc(Math.fround(Math.fround(sum / 20) * 100));
}

function stateOf(wasFlapping: boolean, change: number, result: CheckResult): ExpectedCheckState['state'] {
  const { lowFlap, highFlap, status } = result;
  const detectsFlapping = lowFlap !== 0 && highFlap !== 0;
  if (detectsFlapping && (wasFlapping ? change > lowFlap : change >= highFlap)) return 'flapping';
  return status === 0 ? 'passing' : 'failing';
}
