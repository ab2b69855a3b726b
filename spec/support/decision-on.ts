import { CommitRelay } from '../../src/actors/core/commit-relay.ts';
import type { ActorKinds } from '../../src/actors/core/actor-kind.ts';
import { DecisionContext } from '../../src/actors/core/decision-context.ts';
import { GuardLog } from '../../src/actors/core/guard-log.ts';
import { DEFAULT_SETTINGS } from '../../src/actors/core/settings.ts';
import { TickBook } from '../../src/actors/core/tick-book.ts';
import { EntityRoom } from '../../src/actors/core/entity-room.ts';
import { Committer } from '../../src/store/commit/committer.ts';
import type { TransactionalStore } from '../../src/store/commit/transactional-store.ts';

/** Makes decisions on a store without actors, one after the other. */
export class DecisionsOn {
  readonly committer: Committer;
  nowMs = 1_700_000_000_000;

  constructor(store: TransactionalStore) {
    const nowMs = (): number => this.nowMs;
    this.committer = new Committer({ store, nowMs, after: () => undefined, listener: new CommitRelay() });
  }

  /** Resolves when the decision is durable. */
  async decide(run: (ctx: DecisionContext) => void): Promise<void> {
    const ports = {
      reader: this.committer,
      // No decision wakes an actor.
      kinds: {} as ActorKinds,
      guards: new GuardLog(),
      quarantine: { has: () => false },
      pressure: { isOutboxFull: false },
      settings: DEFAULT_SETTINGS,
      ticks: new TickBook(),
      room: new EntityRoom(DEFAULT_SETTINGS.entityUseLimits, () => []),
    };
    const { nowMs } = this;
    const cause = { restore: true } as const;
    const ctx = new DecisionContext(ports, { nowMs, steadyMs: nowMs, cause, observer: undefined });
    run(ctx);
    await this.committer.commit(ctx.decision);
  }
}
