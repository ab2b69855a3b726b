import type { MergedCheck } from './check-merge.ts';
import type { Countdown } from './countdown.ts';

export type ActorState = 'registered' | 'warning' | 'critical';

export interface ExpectedEntity {
  entityClass: string;
  deregister: boolean;
  state: ActorState;
  /** By the agent's clock; never moves backwards. */
  lastSeenS: number;
  /** While its keepalives are waited for. */
  monitor: Countdown | undefined;
}

export interface ExpectedEvent extends MergedCheck {
  executed: number;
  output: string;
  handlers: readonly string[];
  lowFlap: number;
  highFlap: number;
  /** Seconds of blind time that the alert must name, at least and at most. */
  blindS: readonly [number, number] | undefined;
  /** The dead man's switch. */
  armed: { state: ActorState; countdown: Countdown; alertStatus: number } | undefined;
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
  /** The highest number applied, by `<agent> <queue>`. */
  readonly queues: Map<string, number>;

  constructor(from?: Expectation) {
    this.entities = new Map(from?.entities);
    this.events = new Map(from?.events);
    this.handlers = new Map(from?.handlers);
    this.checks = new Set(from?.checks);
    this.queues = new Map(from?.queues);
  }
}

/** What inputs since the last write must add to the next one. */
export class Pending {
  readonly events = new Set<string>();
  readonly entities = new Set<string>();
  readonly queues = new Set<string>();
  /** Entities that are gone. */
  readonly deleted = new Set<string>();
  /** `<actor> <key>: <from> -> <to> at <wall ms>` */
  readonly transitions: string[] = [];
  /** `<key>: <handler> of status <status>, occurrences <n>` */
  readonly publications: string[] = [];
  /** Of the first of them, by the monotonic clock. */
  sinceMs: number | undefined;
}
