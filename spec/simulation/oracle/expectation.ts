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
  /** While its keepalives are waited for. */
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
  /** The dead man's switch. */
  armed: { state: ActorState; countdown: Countdown; alertStatus: number } | undefined;
  reach: Reach;
  /** Names of the silences that act on it, in order. */
  silenced: readonly string[];
  /** Of the agent that sent a keepalive: who hears that it left. */
  deregistrationHandler: string | undefined;
}

export interface ExpectedHandler {
  /** Members of a set; undefined for a handler that runs. */
  members: readonly string[] | undefined;
  filters: readonly string[];
}

/** Everything that must be stored after some inputs. Its values are never changed, only replaced. */
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

/** What inputs since the last write must add to the next one. */
export class Pending {
  readonly events = new Set<string>();
  readonly entities = new Set<string>();
  readonly queues = new Set<string>();
  readonly silences = new Set<string>();
  /** Last seconds of silences that are gone because they were over, by name: their end must be on record. */
  readonly over = new Map<string, number[]>();
  /** Entities that are gone. */
  readonly deleted = new Set<string>();
  /** `<actor> <key>: <from> -> <to> at <wall ms>`; of a silence the event in place of where it comes from. */
  readonly transitions: string[] = [];
  /** `<key>: <handler> of status <status>, occurrences <n>, silenced by <names>` */
  readonly publications: string[] = [];
  /** Of the first of them, by the monotonic clock. */
  sinceMs: number | undefined;
}
