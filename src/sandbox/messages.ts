import type { Event } from '../resources/event.ts';
import type { EventReader, LookedUp } from './lookups.ts';

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

/** A filter with its expressions and the JavaScript sources of its assets, which run before each expression. */
export interface StoredFilter {
  name: string;
  action: 'allow' | 'deny';
  expressions: readonly string[];
  libraries: readonly string[];
}

/** An event and the filters that decide about it, in order. */
export interface FilterTask {
  /** The event, with its secrets redacted. */
  event: Event;
  filters: readonly StoredFilter[];
  /** Reference time of `seconds_since`, Unix ms. */
  nowMs: number;
  /** The events that expressions can look up; without it they can look up none. */
  events?: EventReader | undefined;
}

/** `notes` names each expression that threw and was therefore left out. */
export type FilterResult =
  | { passes: true; notes: string[] }
  | { passes: false; filter: string; expression: string; value: string }
  | { passes: false; filter: string; failed: string };

/** An event and the function body that transforms it. */
export interface MutateTask {
  /** The event, with its secrets redacted. */
  event: Event;
  body: string;
  /** Global variables of the body, which are strings. */
  variables: Readonly<Record<string, string>>;
  /** JavaScript sources of assets, which run before the body. */
  libraries?: readonly string[];
  /** CPU time limit, ms; 0 is the default of one second. */
  timeoutMs: number;
  nowMs: number;
  /** The events that the body can look up; without it, it can look up none. */
  events?: EventReader | undefined;
}

/** A program asked for an event that was not looked up yet; its evaluation is repeated. `usedMs`: the CPU time that it took. */
export interface LookupRequest {
  wanted: string;
  usedMs: number;
}

/** The same of the filter with this index. The notes are those of the filters before it. */
export interface FilterLookupRequest extends LookupRequest {
  filter: number;
  notes: string[];
}

/** The input of the handler, or why there is none. */
export type MutateResult = { data: string } | { error: string };

/** An event as JSON, or itself if it is long or has a member that JSON cannot express exactly. */
export type SentEvent = string | Event;

/** A slice of a predicate task. It ends at either limit, so that tasks of others get the thread. */
export interface PredicateRequest extends PredicateTask {
  type: 'predicates';
  /** The slice ends with the first value after this time, ms. */
  sliceMs: number;
  /** The slice ends with this number of values that exceeded a limit. */
  maxStopped: number;
}

export interface FilterRequest {
  type: 'filter';
  namespace: string;
  event: SentEvent;
  filters: readonly StoredFilter[];
  nowMs: number;
  /** CPU time limit for one filter, ms. */
  limitMs: number;
  lookedUp: LookedUp;
  /** The part of the limit of the first filter that is used up, ms. */
  spentMs: number;
}

export interface MutateRequest {
  type: 'mutate';
  event: SentEvent;
  body: string;
  variables: Readonly<Record<string, string>>;
  libraries: readonly string[];
  nowMs: number;
  limitMs: number;
  lookedUp: LookedUp;
  /** The part of the limit that is used up, ms. */
  spentMs: number;
}

/** A request to a worker. Workers answer requests in order. */
export type WorkerRequest = (PredicateRequest | FilterRequest | MutateRequest) & { id: number };

/** `result`: the answer to a filter request, with what its expressions wrote to the console. */
export interface FilterAnswer {
  result: FilterResult | FilterLookupRequest;
  console: string;
  /** Whether an expression was stopped at a limit. */
  isStopped: boolean;
}

/** The JSON text of the event as the body left it, or the text that it returned, or an error. */
export type MutateAnswer = ({ event: string } | { text: string } | { error: string } | LookupRequest) & {
  console: string;
  isStopped: boolean;
};

/**
 * Sent by a worker: `ready` once; `value` for each value of a predicate request, in order; `begun` when the evaluation of
 * a filter after the first one begins; then one `done` for the request, with the time that it took.
 */
export type WorkerMessage =
  | { type: 'ready'; threadId: string | undefined }
  | { type: 'value'; id: number; result: EvaluationResult }
  | { type: 'begun'; id: number; filter: number }
  | { type: 'done'; id: number; tookMs: number; answer: FilterAnswer | MutateAnswer | undefined };
