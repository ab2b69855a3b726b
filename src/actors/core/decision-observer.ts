import type { StateValue } from 'xstate';
import type { ActorAddress } from '../../resources/actor-address.ts';
import type { LedgerDraft } from '../../store/ledger/ledger.ts';

/** One step of a watched actor, check state or silence in a decision. */
export interface ActorStep {
  kind: ActorAddress['actor'];
  key: string;
  /** Unix ms. */
  atMs: number;
  /** Undefined when the step made the actor. */
  event: { type: string } | undefined;
  /** The snapshot after the step. */
  after: { value: StateValue; context: object; status: string };
  /** The number of ledger entries of the decision so far. When the step is a transition, the last of them is its own. */
  ledgerEntries: number;
  isTransition: boolean;
}

/** Receives the steps of watched actors. Must not throw. */
export interface DecisionObserver {
  watches(kind: ActorAddress['actor'], key: string): boolean;
  /** Returns the step that a ledger entry of a watched check state or silence describes; undefined for every other entry. */
  stepOf(entry: LedgerDraft): Pick<ActorStep, 'kind' | 'event' | 'after'> | undefined;
  /**
   * Receives the steps of a decision that was passed to the committer with `ledgerEntries` entries. They count when `durable`
   * resolves; when it rejects, the decision is lost.
   */
  decided(steps: readonly ActorStep[], ledgerEntries: number, durable: Promise<void>): void;
}
