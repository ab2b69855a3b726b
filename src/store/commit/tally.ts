import { type CountedKind, GroupCounts } from './object-groups.ts';
import type { Outcome } from '../records/records.ts';

/** The outcome of a handler with one event. */
export interface CountedOutcome {
  namespace: string;
  handler: string;
  outcome: Outcome;
  /** The number of equal outcomes. */
  count: number;
}

/** Counts equal outcomes in one object, so that a batch does not hold thousands. */
export class OutcomeCounts {
  readonly #byNamespace = new Map<string, Map<string, CountedOutcome[]>>();

  add(outcome: CountedOutcome): void {
    const byHandler = this.#handlersOf(outcome.namespace);
    const ofHandler = byHandler.get(outcome.handler);
    const known = ofHandler?.find((one) => one.outcome === outcome.outcome);
    if (known !== undefined) known.count += outcome.count;
    else if (ofHandler !== undefined) ofHandler.push({ ...outcome });
    else byHandler.set(outcome.handler, [{ ...outcome }]);
  }

  #handlersOf(namespace: string): Map<string, CountedOutcome[]> {
    let byHandler = this.#byNamespace.get(namespace);
    if (byHandler === undefined) {
      byHandler = new Map();
      this.#byNamespace.set(namespace, byHandler);
    }
    return byHandler;
  }

  *[Symbol.iterator](): Iterator<CountedOutcome> {
    for (const byHandler of this.#byNamespace.values()) for (const ofHandler of byHandler.values()) yield* ofHandler;
  }
}

/** Counts of inputs by type, and of stored objects by group. */
export class Tally {
  /** Events with a check, which are merged into the stored ones. */
  checkEvents = 0;
  /** Events without a check, which are handled but not stored. */
  metricEvents = 0;
  metricPoints = 0;
  keepalives = 0;
  /** Alerts about missing keepalives. */
  missedKeepalives = 0;
  /** The outcomes of handlers; undefined while there is none, and in the sum of several tallies. */
  outcomes: CountedOutcome[] | undefined;

  notify(namespace: string, handler: string, outcome: Outcome): void {
    (this.outcomes ??= []).push({ namespace, handler, outcome, count: 1 });
  }

  /** Created at the first change, because most decisions change no group. */
  #groups: GroupCounts | undefined;

  /** The changes of the numbers of stored objects; for all inputs together, the numbers themselves. */
  get groups(): GroupCounts {
    this.#groups ??= new GroupCounts();
    return this.#groups;
  }

  /** Moves a stored object from one group to another; undefined for one that is created or deleted. */
  move(kind: CountedKind, from: string | undefined, to: string | undefined): void {
    if (from !== to) this.groups.move(kind, from, to);
  }

  add(other: Tally): void {
    this.checkEvents += other.checkEvents;
    this.metricEvents += other.metricEvents;
    this.metricPoints += other.metricPoints;
    this.keepalives += other.keepalives;
    this.missedKeepalives += other.missedKeepalives;
    if (other.#groups !== undefined) this.groups.add(other.#groups);
  }
}
