import type { ActorSnapshot } from '../../store/records.ts';
import type { ActorEvents, ActorKind } from './actor-kind.ts';

/** One step of a watched actor in a decision. */
export interface ActorStep {
  kind: ActorKind;
  key: string;
  /** Unix ms. */
  atMs: number;
  /** Undefined when the step made the actor. */
  event: ActorEvents[ActorKind] | undefined;
  /** The snapshot after the step. */
  after: ActorSnapshot & { status: string };
  /** The number of ledger entries of the decision so far. When the step is a transition, the last of them is its own. */
  ledgerEntries: number;
  isTransition: boolean;
}

/** Receives the steps of watched actors. Must not throw. */
export interface DecisionObserver {
  watches(kind: ActorKind, key: string): boolean;
  /**
   * Receives the steps of a decision that was passed to the committer with `ledgerEntries` entries. They count when `durable`
   * resolves; when it rejects, the decision is lost.
   */
  decided(steps: readonly ActorStep[], ledgerEntries: number, durable: Promise<void>): void;
}
