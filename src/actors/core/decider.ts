import { Overloaded } from '../../resources/errors.ts';
import type { Committer } from '../../store/committer.ts';
import type { DeadlineChange, Source } from '../../store/decision.ts';
import type { LedgerCause } from '../../store/ledger.ts';
import type { DecisionObserver } from './decision-observer.ts';
import type { GuardLog } from './guard-log.ts';
import { ActorFailed } from './keyed-actors.ts';
import type { ActorKind, ActorKinds } from './actor-kind.ts';
import { OUTBOX_FULL } from './outbox-full.ts';
import { DecisionContext, type DecisionContextPorts } from './decision-context.ts';
import type { Settings } from './settings.ts';

const FULL = {
  store: 'too many changes wait to be stored',
  outbox: OUTBOX_FULL,
};

export interface Input {
  cause: LedgerCause;
  /** Who must hear of the outcome; whoever awaits the promise needs none. */
  source?: Source | undefined;
  acknowledge?: number | undefined;
  /** Decided even when too much waits to be stored: deadlines, repairs, and agents, whose readers pause instead. */
  unbounded?: boolean;
  /** It leads to what must be handled: refused while too much waits for that. */
  feedsHandlers?: boolean;
}

export interface DeciderPorts {
  committer: Committer;
  kinds: ActorKinds;
  guards: GuardLog;
  nowMs(): number;
  steadyMs(): number;
  /** What is full, if anything: inputs that add to it are refused. */
  full(): 'store' | 'outbox' | undefined;
  isOutboxFull(): boolean;
  isQuarantined(kind: ActorKind, key: string): boolean;
  /** An actor threw; called when nothing is being decided. */
  failed(failure: ActorFailed): void;
  /** Called after each decision, whatever became of it. */
  decided(): void;
  arm(change: DeadlineChange): void;
  settings: Settings;
}

export interface Decided<T> {
  result: T;
  /** Resolves when the decision is durable. */
  durable: Promise<void>;
}

/** Makes decisions one after the other, synchronously; each is whole or nothing. */
export class Decider {
  /** Only while somebody watches an actor. */
  observer: DecisionObserver | undefined;
  /** How many inputs were refused because too much waits. */
  refused = 0;
  readonly #ports: DeciderPorts;
  readonly #scopePorts: DecisionContextPorts;
  #current: DecisionContext | undefined;

  constructor(ports: DeciderPorts) {
    this.#ports = ports;
    this.#scopePorts = { ...ports, reader: ports.committer };
  }

  /** The decision being made: the effects of machines write into it. */
  get current(): DecisionContext {
    if (this.#current === undefined) throw new Error('nothing is being decided');
    return this.#current;
  }

  /** @throws whatever `run` throws, after dropping the decision; StoreUnavailable; Overloaded */
  decide<T>(input: Input, run: (ctx: DecisionContext) => T): Decided<T> {
    const { committer } = this.#ports;
    if (this.#current !== undefined) throw new Error('a decision cannot begin inside another');
    committer.assertWritable();
    if (input.unbounded !== true) this.#assertRoom(input);
    const failures: ActorFailed[] = [];
    const ctx = this.#open(input, failures);
    try {
      const result = run(ctx);
      ctx.runFollowUps();
      return { result, durable: this.#close(ctx, input) };
    } catch (error) {
      this.#drop(ctx);
      if (error instanceof ActorFailed) failures.push(error);
      throw error;
    } finally {
      this.#current = undefined;
      for (const failure of failures) this.#ports.failed(failure);
      this.#ports.decided();
    }
  }

  #assertRoom({ feedsHandlers = false }: Input): void {
    const full = this.#ports.full();
    if (full === undefined || (full === 'outbox' && !feedsHandlers)) return;
    this.refused += 1;
    throw new Overloaded(FULL[full]);
  }

  #open({ cause }: Input, failures: ActorFailed[]): DecisionContext {
    const { nowMs, steadyMs } = this.#ports;
    const { observer } = this;
    const ctx = new DecisionContext(this.#scopePorts, {
      nowMs: nowMs(),
      steadyMs: steadyMs(),
      cause,
      observer,
      failures,
    });
    this.#current = ctx;
    return ctx;
  }

  #close({ decision, steps }: DecisionContext, { source, acknowledge }: Input): Promise<void> {
    decision.source = source;
    decision.acknowledge = acknowledge;
    const durable = this.#ports.committer.commit(decision);
    for (const change of decision.deadlines) this.#ports.arm(change);
    if (steps !== undefined) this.observer?.decided(steps, decision.ledger.length, durable);
    return durable;
  }

  #drop({ touched }: DecisionContext): void {
    for (const { kind, key } of touched) this.#ports.kinds[kind].rest(key);
  }
}
