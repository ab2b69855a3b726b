import type { Outcome } from './records.ts';

/** The outcome of a handler with one event. */
export interface CountedOutcome {
  namespace: string;
  handler: string;
  outcome: Outcome;
}

/** Counts of inputs by type. */
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

  add(other: Tally): void {
    this.checkEvents += other.checkEvents;
    this.metricEvents += other.metricEvents;
    this.metricPoints += other.metricPoints;
    this.keepalives += other.keepalives;
    this.missedKeepalives += other.missedKeepalives;
  }

  /** Adds the counts, and the outcomes one by one. */
  join(other: Tally): void {
    this.add(other);
    if (other.outcomes === undefined) return;
    this.outcomes ??= [];
    for (const outcome of other.outcomes) this.outcomes.push(outcome);
  }
}
