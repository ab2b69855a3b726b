import { Decider, type DeciderPorts } from '../../../src/actors/core/decider.ts';
import { GuardLog } from '../../../src/actors/core/guard-log.ts';
import { CurrentDecision } from '../../../src/actors/core/current-decision.ts';
import { type ActorFailure, FailureQueue } from '../../../src/actors/core/failure-queue.ts';
import { KeyedActors } from '../../../src/actors/core/keyed-actors.ts';
import type { ActorEvents, ActorInputs, ActorKinds } from '../../../src/actors/core/actor-kind.ts';
import { MACHINES } from '../../../src/actors/core/machines.ts';
import { startRoot } from '../../../src/actors/core/root.ts';
import type { DecisionContext } from '../../../src/actors/core/decision-context.ts';
import { DEFAULT_SETTINGS } from '../../../src/actors/core/settings.ts';
import { TickBook } from '../../../src/actors/core/tick-book.ts';
import { EntityRoom } from '../../../src/actors/core/entity-room.ts';
import { EMPTY_ENTITY_STATE } from '../../../src/resources/entity.ts';
import { StoreUnavailable } from '../../../src/resources/errors.ts';
import { Committer } from '../../../src/store/commit/committer.ts';
import type { Source } from '../../../src/store/commit/decision.ts';
import type { LedgerCause } from '../../../src/store/ledger/ledger.ts';
import type { TransactionalStore } from '../../../src/store/commit/transactional-store.ts';
import { Sabotage, tallyMachine } from './tally-machine.ts';

export type TallyInput =
  | {
      type: 'received';
      key: string;
      value: number;
      /** A second key that receives the value in the same decision, as a consequence. */
      also?: string;
    }
  | { type: 'deleted'; key: string };

/** The real decider, committer and keyed actors with tally machines. The test provides the store and the failures. */
export class TallyingSystem {
  readonly sabotage = new Sabotage();
  readonly committer: Committer;
  readonly kinds: ActorKinds;
  /** Failures of actors, and those that could not be recorded. */
  failures = 0;
  unrecordedFailures = 0;
  recoveries = 0;
  readonly #decider: Decider;
  readonly #root: ReturnType<typeof startRoot>;
  #atMs = 0;

  constructor(store: TransactionalStore) {
    const guards = new GuardLog();
    const nowMs = () => this.#atMs;
    this.committer = new Committer({
      store,
      nowMs,
      after: (_, fire) => setImmediate(fire),
      listener: {
        committed: () => undefined,
        lost: ({ entities }) => {
          for (const key of entities) this.kinds.entity.evict(key);
        },
        recovered: () => {
          this.recoveries += 1;
        },
      },
    });
    const failures = new FailureQueue();
    failures.handleWith((failure, cause) => {
      this.#failed(failure, cause);
    });
    this.#root = startRoot(failures);
    const { supervisors } = this.#root;
    const neverRebuilt = { rebuild: () => undefined, rebuilt: () => undefined, outdated: () => undefined };
    const unused = { load: () => undefined, ...neverRebuilt };
    this.kinds = {
      entity: new KeyedActors<ActorEvents['entity'], ActorInputs['entity']>({
        kind: 'entity',
        machine: guards.record(tallyMachine(this.sabotage)),
        supervisor: supervisors.entity,
        load: (reader, key) => reader.get('entities', key)?.actor,
        ...neverRebuilt,
      }),
      'check-ttl': new KeyedActors<ActorEvents['check-ttl'], ActorInputs['check-ttl']>({
        kind: 'check-ttl',
        machine: MACHINES['check-ttl'],
        supervisor: supervisors['check-ttl'],
        ...unused,
      }),
      connection: new KeyedActors<ActorEvents['connection'], ActorInputs['connection']>({
        kind: 'connection',
        machine: MACHINES.connection,
        supervisor: supervisors.connection,
        ...unused,
      }),
      'check-schedule': new KeyedActors<ActorEvents['check-schedule'], ActorInputs['check-schedule']>({
        kind: 'check-schedule',
        machine: MACHINES['check-schedule'],
        supervisor: supervisors['check-schedule'],
        ...unused,
      }),
    };
    this.#decider = new Decider({
      committer: this.committer,
      kinds: this.kinds,
      guards,
      nowMs,
      steadyMs: nowMs,
      current: new CurrentDecision(),
      failures,
      pressure: this.#pressure(),
      quarantine: { has: () => false },
      deadlines: { arm: () => undefined },
      eviction: { keepBound: () => undefined },
      settings: DEFAULT_SETTINGS,
      ticks: new TickBook(),
      room: new EntityRoom(DEFAULT_SETTINGS.entityUseLimits, () => []),
    });
  }

  /** Resolves when the input is durable. @throws ActorFailed, StoreUnavailable, and keeps nothing of the input then */
  decide(input: TallyInput, source?: Source, acknowledge?: number): Promise<void> {
    this.#atMs += 1;
    return this.#decider.decide({ cause: { session: 'model' }, source, acknowledge }, (ctx) => {
      if (input.type === 'deleted') return end(ctx, input.key);
      receive(ctx, input.key, input.value);
      const { also, value } = input;
      if (also === undefined) return;
      ctx.follow(() => {
        receive(ctx, also, value);
      });
    }).durable;
  }

  stop(): void {
    for (const kind of Object.values(this.kinds)) kind.evictAll();
    this.#root.stop();
  }

  #pressure(): DeciderPorts['pressure'] {
    const { committer } = this;
    return {
      isOutboxFull: false,
      get full() {
        return committer.isFull ? 'store' : undefined;
      },
    };
  }

  /** Evicts the actor and records its failure if that can be written, as the real supervision does. */
  #failed({ kind: actor, key }: ActorFailure, cause: LedgerCause): void {
    this.failures += 1;
    this.kinds.entity.evict(key);
    try {
      this.#decider.decide({ cause, unbounded: true }, (ctx) => {
        ctx.record({ actor, key, from: null, event: 'actor.failed', to: null });
      });
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      this.unrecordedFailures += 1;
    }
  }
}

/** Counts the value in the actor and in a plain record. Both read changes that are not durable yet. */
function receive(ctx: DecisionContext, key: string, value: number): void {
  const event = { type: 'keepalive.received', atMs: value, warningMs: 0, criticalMs: 0, intervalMs: 0 } as const;
  if (ctx.get('entities', key) === undefined) ctx.create('entity', key, { key }, 'entity.created');
  const actor = ctx.send('entity', key, event)?.snapshot;
  if (actor === undefined) throw new Error(`the tally of ${key} has ended`);
  ctx.put('entities', key, { state: EMPTY_ENTITY_STATE, actor });
  ctx.put('meta', `received/${key}`, ((ctx.get('meta', `received/${key}`) as number | undefined) ?? 0) + 1);
}

function end(ctx: DecisionContext, key: string): void {
  if (!ctx.decision.keys('entities', 'model/').has(key)) return;
  ctx.send('entity', key, { type: 'entity.deleted' });
  ctx.delete('entities', key);
}
