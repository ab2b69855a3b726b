/** Whether all programs hold for each value. */
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

/** A request to a worker: a slice of a task. It ends at either limit, so that tasks of others get the thread. */
export interface TaskSlice extends PredicateTask {
  /** The slice ends with the first value after this time, ms. */
  sliceMs: number;
  /** The slice ends with this number of values that exceeded a limit. */
  maxStopped: number;
}

/** Sent by a worker: `ready` once, then for each slice a result for each value that was evaluated, in order, and `done`. */
export type WorkerMessage = { type: 'ready' } | { type: 'result'; result: EvaluationResult } | { type: 'done' };
