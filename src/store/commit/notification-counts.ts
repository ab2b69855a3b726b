import type { CountedOutcome } from './tally.ts';

/** Agents choose the names of handlers: at most this many handlers and outcomes are counted by themselves, the first ones. */
const MAX_COUNTED = 1_000;

/** The outcomes of handlers since the process started. */
export class NotificationCounts {
  /** Under `<namespace>/<handler>/<outcome>`. */
  readonly counts = new Map<string, number>();
  /** Outcomes of all others. */
  others = 0;

  add(outcomes: Iterable<CountedOutcome>): void {
    for (const { namespace, handler, outcome, count } of outcomes) {
      const name = `${namespace}/${handler}/${outcome}`;
      const known = this.counts.get(name);
      if (known === undefined && this.counts.size >= MAX_COUNTED) this.others += count;
      else this.counts.set(name, (known ?? 0) + count);
    }
  }
}
