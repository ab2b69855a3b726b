import type { ActorSnapshot } from '../../store/records.ts';
import type { ActorEvents, ActorKind } from './actor-kind.ts';

/** What a watched actor did in a decision. */
export interface ActorStep {
  kind: ActorKind;
  key: string;
  /** Unix ms. */
  atMs: number;
  /** Undefined for the beginning of an actor. */
  event: ActorEvents[ActorKind] | undefined;
  /** Where it stands then. */
  after: ActorSnapshot & { status: string };
  /** Ledger entries of the decision so far; the last of them is this step where it is a transition. */
  ledgerEntries: number;
  isTransition: boolean;
}

/** Sees what watched actors do. Must not throw. */
export interface DecisionObserver {
  watches(kind: ActorKind, key: string): boolean;
  /**
   * What they did in a decision that was just handed to the committer, with so many ledger entries: it happened when
   * `durable` resolves, and never did when that rejects.
   */
  decided(steps: readonly ActorStep[], ledgerEntries: number, durable: Promise<void>): void;
}
