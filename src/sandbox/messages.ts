/** What a worker is asked: whether all programs hold for each value. */
export interface PredicateTask {
  /** Programs of users; each holds when its completion value is truthy. */
  programs: readonly string[];
  /** The name under which they find the value. */
  variable: string;
  /** JSON texts. */
  values: readonly string[];
  /** What `seconds_since` counts to, Unix ms. */
  nowMs: number;
  /** CPU time of one value, ms. */
  limitMs: number;
}

/** `fault` says why it does not hold where a program threw; `limit` that it was stopped, and at what. */
export type Verdict =
  { type: 'holds' } | { type: 'fails' } | { type: 'fault'; error: string } | { type: 'limit'; error: string };

/** What a worker says: once that it is ready, then a verdict for each value, in order. */
export type WorkerMessage = { type: 'ready' } | { type: 'verdict'; verdict: Verdict };
