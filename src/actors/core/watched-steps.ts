import type { LedgerDraft } from '../../store/ledger/ledger.ts';
import type { ActorStep, DecisionObserver } from './decision-observer.ts';

/** Collects the steps of watched actors in one decision, in order. */
export class WatchedSteps {
  readonly #observer: DecisionObserver;
  #steps: ActorStep[] | undefined;

  constructor(observer: DecisionObserver) {
    this.#observer = observer;
  }

  /** Undefined when there are none. */
  get steps(): readonly ActorStep[] | undefined {
    return this.#steps;
  }

  watches(kind: ActorStep['kind'], key: string): boolean {
    return this.#observer.watches(kind, key);
  }

  /** Adds the step of an actor, if it is watched. */
  add(step: ActorStep): void {
    if (this.watches(step.kind, step.key)) (this.#steps ??= []).push(step);
  }

  /** Adds the step that a ledger entry of a watched check state or silence is. */
  addRecorded(draft: LedgerDraft, ledgerEntries: number): void {
    const step = this.#observer.stepOf(draft);
    if (step === undefined) return;
    (this.#steps ??= []).push({ ...step, key: draft.key, atMs: draft.atMs, ledgerEntries, isTransition: true });
  }
}
