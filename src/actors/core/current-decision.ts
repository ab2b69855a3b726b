import type { DecisionContext } from './decision-context.ts';

/** Holds the decision while it is being made: the effects of machines write into it. At most one is made at a time. */
export class CurrentDecision {
  #ctx: DecisionContext | undefined;

  /** @throws Error when no decision is being made */
  get ctx(): DecisionContext {
    if (this.#ctx === undefined) throw new Error('no decision is being made');
    return this.#ctx;
  }

  /** @throws Error when a decision is being made already */
  assertNone(): void {
    if (this.#ctx !== undefined) throw new Error('a decision cannot begin inside another');
  }

  begin(ctx: DecisionContext): void {
    this.#ctx = ctx;
  }

  end(): void {
    this.#ctx = undefined;
  }
}
