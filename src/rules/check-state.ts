import { type CheckHistory, HISTORY_LENGTH, isSharedUniform, NO_HISTORY, withResult } from './check-history.ts';

/** The maximum number of entries of a longer history, which only the first event of a check may contain. */
const MAX_SENT_HISTORY = 100;
const FIRST_WEIGHT = 0.8;
const WEIGHT_STEP = 0.02;

export type CheckStateName = 'passing' | 'failing' | 'flapping';

/** The state before the merge: the stored one, or the one that a first event contains. */
export interface PreviousCheckState {
  history: CheckHistory;
  occurrences: number;
  occurrencesWatermark: number;
  state: CheckStateName | undefined;
  /** Unix seconds. */
  lastOk: number;
}

export interface CheckResult {
  status: number;
  /** Unix seconds. */
  executed: number;
  /** Percent; 0 turns flap detection off. */
  lowFlapThreshold: number;
  highFlapThreshold: number;
}

/** The fields of an event that the backend owns. */
export interface CheckState {
  history: CheckHistory;
  occurrences: number;
  occurrencesWatermark: number;
  state: CheckStateName;
  totalStateChange: number;
  /** Unix seconds. */
  lastOk: number;
  /** Names of the silences that apply. */
  silenced: string[];
}

export const NO_PREVIOUS_STATE: PreviousCheckState = {
  history: NO_HISTORY,
  occurrences: 0,
  occurrencesWatermark: 0,
  state: undefined,
  lastOk: 0,
};

/**
 * Returns how often a check changed over its last 21 results, in percent; newer changes weigh more (0.80 to 1.18). Returns 0 for
 * fewer results. The result is truncated in single precision like in the reference, so 98 is the maximum.
 */
export function totalStateChange({ statuses }: CheckHistory): number {
  if (statuses.length < HISTORY_LENGTH || isSharedUniform(statuses)) return 0;
  let weight = FIRST_WEIGHT;
  let sum = 0;
  for (let index = 1; index < statuses.length; index += 1) {
    if (statuses[index] !== statuses[index - 1]) sum += weight;
    weight += WEIGHT_STEP;
  }
  const share = Math.fround(Math.fround(sum) / (HISTORY_LENGTH - 1));
  return Math.trunc(Math.fround(share * 100));
}

/** Computes the state of a check after a result: history, counters, and passing, failing or flapping with hysteresis. */
export function mergeCheckState(previous: PreviousCheckState, result: CheckResult): CheckState {
  const { status, executed } = result;
  const history = historyAfter(previous.history, { status, executed });
  const occurrences = previous.history.statuses.at(-1) === status ? previous.occurrences + 1 : 1;
  const change = totalStateChange(history);
  const state = stateName(previous.state === 'flapping', change, result);
  return {
    history,
    occurrences,
    occurrencesWatermark: watermarkAfter(previous, status, occurrences),
    state,
    totalStateChange: change,
    lastOk: state === 'passing' ? executed : previous.lastOk,
    silenced: [],
  };
}

/** A longer history, which only a first event may contain, loses one entry for each result, as in the reference. */
function historyAfter(sent: CheckHistory, latest: { status: number; executed: number }): CheckHistory {
  const { length } = sent.statuses;
  return withResult(sent, Math.max(length < HISTORY_LENGTH ? 0 : 1, length - MAX_SENT_HISTORY), latest);
}

/** Reports whether the last result ended a problem. */
export const isResolution = ({ statuses }: CheckHistory): boolean =>
  statuses.at(-1) === 0 && (statuses.at(-2) ?? 0) !== 0;

function stateName(wasFlapping: boolean, change: number, result: CheckResult): CheckStateName {
  const { lowFlapThreshold: low, highFlapThreshold: high, status } = result;
  if (low > 0 && high > 0 && (wasFlapping ? change > low : change >= high)) return 'flapping';
  return status === 0 ? 'passing' : 'failing';
}

/** Returns 1 at the start of an incident, else the highest number of occurrences so far. */
function watermarkAfter(
  { history, occurrencesWatermark }: PreviousCheckState,
  status: number,
  occurrences: number,
): number {
  if (status !== 0 && history.statuses.at(-1) === 0) return 1;
  return occurrences <= occurrencesWatermark ? occurrencesWatermark : occurrencesWatermark + 1;
}
