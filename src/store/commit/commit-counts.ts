import { NotificationCounts } from './notification-counts.ts';
import { type CountedOutcome, Tally } from './tally.ts';

/** The outcomes of decisions since the process started. */
export class CommitCounts {
  /** Transactions that became durable, and the decisions in them. */
  commits = 0;
  decisions = 0;
  /** The sum of the time from the start of each commit until it was durable. */
  durationMs = 0;
  /** Transactions that failed. */
  failures = 0;
  /** The tallies that became durable, and those that were lost with failed transactions. */
  readonly stored = new Tally();
  readonly lost = new Tally();
  readonly notifications = new NotificationCounts();

  /** Counts the tally and the outcomes of what became durable. */
  store(tally: Tally, outcomes: Iterable<CountedOutcome> = []): void {
    this.stored.add(tally);
    this.notifications.add(outcomes);
  }
}
