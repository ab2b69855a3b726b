/** A request to a worker: whether all programs hold for each value. */
export interface PredicateTask {
  /** Programs of users. A program holds when its completion value is truthy. */
  programs: readonly string[];
  /** Name of the variable that contains the value. */
  variable: string;
  /** The values as JSON texts. */
  values: readonly string[];
  /** Reference time of `seconds_since`, Unix ms. */
  nowMs: number;
  /** CPU time limit for one value, ms. */
  limitMs: number;
}

/** `error`: a program threw. `limit`: a program exceeded a limit and was stopped. */
export type EvaluationResult =
  { type: 'holds' } | { type: 'fails' } | { type: 'error'; error: string } | { type: 'limit'; error: string };

/** Sent by a worker: `ready` once, then a result for each value, in order. */
export type WorkerMessage = { type: 'ready' } | { type: 'result'; result: EvaluationResult };
