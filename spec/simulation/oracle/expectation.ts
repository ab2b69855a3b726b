import type { ExpectedCheckState } from './check-state.ts';
import type { Countdown } from './countdown.ts';
import type { ExpectedSilence, Reach } from './silences.ts';

export type ActorState = 'registered' | 'warning' | 'critical';

export interface ExpectedEntity {
  entityClass: string;
  deregister: boolean;
  subscriptions: readonly string[];
  state: ActorState;
  /** By the agent's clock; never moves backwards. */
  lastSeenS: number;
  /** Set while keepalives are expected. */
  monitor: Countdown | undefined;
}

export interface ExpectedEvent extends ExpectedCheckState {
  executed: number;
  output: string;
  handlers: readonly string[];
  lowFlap: number;
  highFlap: number;
  /** Seconds of blind time that the alert must name, at least and at most. */
  blindS: readonly [number, number] | undefined;
  /** The check TTL. */
  armed: { state: ActorState; countdown: Countdown; alertStatus: number } | undefined;
  reach: Reach;
  /** Names of the silences that apply to the event, in order. */
  silenced: readonly string[];
  /** The handler of the deregistration event; from the keepalive. */
  deregistrationHandler: string | undefined;
}

export interface ExpectedHandler {
  /** Members of a set; undefined for a handler that runs. */
  members: readonly string[] | undefined;
  filters: readonly string[];
}

/** Everything that must be stored after some inputs. Values are replaced, never changed in place. */
export class Expectation {
  readonly entities: Map<string, ExpectedEntity>;
  readonly events: Map<string, ExpectedEvent>;
  readonly handlers: Map<string, ExpectedHandler>;
  readonly checks: Set<string>;
  /** By name. */
  readonly silences: Map<string, ExpectedSilence>;
  /** The highest number applied, by `<agent> <queue>`. */
  readonly queues: Map<string, number>;

  constructor(from?: Expectation) {
    this.entities = new Map(from?.entities);
    this.events = new Map(from?.events);
    this.handlers = new Map(from?.handlers);
    this.checks = new Set(from?.checks);
    this.silences = new Map(from?.silences);
    this.queues = new Map(from?.queues);
  }
}

/** The changes since the last write, which the next write must contain. */
export class Pending {
  readonly events = new Set<string>();
  readonly entities = new Set<string>();
  readonly queues = new Set<string>();
  readonly silences = new Set<string>();
  /** The last seconds of expired silences that were removed, by name. The ledger must contain their ends. */
  readonly over = new Map<string, number[]>();
  /** Deleted entities. */
  readonly deleted = new Set<string>();
  /** `<actor> <key>: <from> -> <to> at <wall ms>`; for a silence the event replaces `<from>`. */
  readonly transitions: string[] = [];
  /** `<key>: <handler> of status <status>, occurrences <n>, silenced by <names>` */
  readonly publications: string[] = [];
  /** The monotonic time of the first change. */
  sinceMs: number | undefined;
}
