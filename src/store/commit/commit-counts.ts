import { NotificationCounts } from './notification-counts.ts';
import { Tally } from './tally.ts';

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

  /** Counts the tally of what became durable. */
  store(tally: Tally): void {
    this.stored.add(tally);
    if (tally.outcomes !== undefined) this.notifications.add(tally.outcomes);
  }
}
