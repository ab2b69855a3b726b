/** The API's explanation of an event at a moment. Times are Unix seconds. */
export interface Explanation {
  at: number;
  sentences: readonly string[];
  state: {
    kind: string;
    state: string | null;
    status: number | null;
    since: number | null;
    problem_since: number | null;
  };
  changes: Excerpt<Change>;
  due: { what: 'result' | 'keepalive'; since: number; limit: number } | null;
  silences: Excerpt<{
    name: string;
    creator: string | null;
    reason: string | null;
    begin: number | null;
    expire_at: number | null;
    ended: { at: number; event: string } | null;
  }>;
  handlers: Excerpt<{ notification: Notification; later: boolean }>;
}

export interface Excerpt<T> {
  items: readonly T[];
  more: boolean;
}

export interface Change {
  seq: number;
  at: number;
  event: string;
  state: string | null;
  status: number | null;
  previous_status: number | null;
  silenced: readonly string[];
  output: string;
}

/** The outcome of one handler with an event. */
export interface Notification {
  id: string;
  entity: string;
  check: string;
  handler: string;
  pipeline: string | null;
  workflow: string | null;
  outcome: string;
  reason: string;
  status: number | null;
  attempts: number | null;
  count: number;
  decided_at: number;
  at: number;
  duration: number;
  dead_letter: boolean;
  replayed_at: number | null;
  replayed_by: string | null;
  state: string | null;
  next_attempt_at: number | null;
}
