import { type CountedKind, GroupCounts } from './object-groups.ts';
import type { Outcome } from '../records/records.ts';

/** The outcome of a handler with one event. */
export interface CountedOutcome {
  namespace: string;
  handler: string;
  outcome: Outcome;
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
  /** Undefined while there is none; most tallies are of one event. */
  outcomes: CountedOutcome[] | undefined;

  notify(namespace: string, handler: string, outcome: Outcome): void {
    (this.outcomes ??= []).push({ namespace, handler, outcome });
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

  /** Adds the counts, and the outcomes one by one. */
  join(other: Tally): void {
    this.add(other);
    if (other.outcomes === undefined) return;
    this.outcomes ??= [];
    for (const outcome of other.outcomes) this.outcomes.push(outcome);
  }
}
