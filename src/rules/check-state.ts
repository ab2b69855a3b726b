import type { HistoryEntry } from '../resources/event.ts';

const HISTORY_LENGTH = 21;
/** Entries kept of a longer history, which only a first event may bring. */
const MAX_SENT_HISTORY = 100;
const FIRST_WEIGHT = 0.8;
const WEIGHT_STEP = 0.02;

export type CheckStateName = 'passing' | 'failing' | 'flapping';

/** What the merge continues from: the stored state of the check, or what a first event says of itself. */
export interface PreviousCheckState {
  history: readonly HistoryEntry[];
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
  history: HistoryEntry[];
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
  history: [],
  occurrences: 0,
  occurrencesWatermark: 0,
  state: undefined,
  lastOk: 0,
};

/**
 * How much a check changed over its last 21 results, newer changes weighing more (0.80 to 1.18), in percent; 0 with fewer
 * results. Only "changed or not" counts. Truncated in single precision like the reference: 98 is the most.
 */
export function totalStateChange(history: readonly HistoryEntry[]): number {
  if (history.length < HISTORY_LENGTH) return 0;
  let weight = FIRST_WEIGHT;
  let sum = 0;
  for (let index = 1; index < history.length; index += 1) {
    if (history[index]?.status !== history[index - 1]?.status) sum += weight;
    weight += WEIGHT_STEP;
  }
  const share = Math.fround(Math.fround(sum) / (HISTORY_LENGTH - 1));
  return Math.trunc(Math.fround(share * 100));
}

/** The state of a check after one more result: history, counters, and passing, failing or flapping with hysteresis. */
export function mergeCheckState(previous: PreviousCheckState, result: CheckResult): CheckState {
  const { status, executed } = result;
  const history = historyAfter(previous.history, { status, executed });
  const occurrences = previous.history.at(-1)?.status === status ? previous.occurrences + 1 : 1;
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

/** Of a longer history, which a first event may bring, the oldest entry goes too, and no more: so the reference does. */
function historyAfter(sent: readonly HistoryEntry[], latest: HistoryEntry): HistoryEntry[] {
  const dropped = Math.max(sent.length < HISTORY_LENGTH ? 0 : 1, sent.length - MAX_SENT_HISTORY);
  if (dropped !== 1) return [...sent.slice(dropped), latest];
  // Each result of a check makes such a copy: one of the same length, which need not grow, is the cheapest.
  const history = sent.slice();
  let place = -1;
  for (const entry of sent) {
    if (place >= 0) history[place] = entry;
    place += 1;
  }
  history[place] = latest;
  return history;
}

/** Whether the last result ended a problem. */
export const isResolution = (history: readonly HistoryEntry[]): boolean =>
  history.at(-1)?.status === 0 && (history.at(-2)?.status ?? 0) !== 0;

function stateName(wasFlapping: boolean, change: number, result: CheckResult): CheckStateName {
  const { lowFlapThreshold: low, highFlapThreshold: high, status } = result;
  if (low > 0 && high > 0 && (wasFlapping ? change > low : change >= high)) return 'flapping';
  return status === 0 ? 'passing' : 'failing';
}

/** Starts anew with an incident; otherwise it is the highest number of occurrences so far. */
function watermarkAfter(
  { history, occurrencesWatermark }: PreviousCheckState,
  status: number,
  occurrences: number,
): number {
  if (status !== 0 && history.at(-1)?.status === 0) return 1;
  return occurrences <= occurrencesWatermark ? occurrencesWatermark : occurrencesWatermark + 1;
}
