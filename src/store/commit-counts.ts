import { Tally } from './tally.ts';

/** What became of decisions since the process started. */
export class CommitCounts {
  /** Transactions that became durable, and the decisions in them. */
  commits = 0;
  decisions = 0;
  /** From take-off until durable, of all commits. */
  durationMs = 0;
  /** Transactions that failed. */
  failures = 0;
  /** What became durable, and what was lost with failed transactions. */
  readonly stored = new Tally();
  readonly lost = new Tally();
}
