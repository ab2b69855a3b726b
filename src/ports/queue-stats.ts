/** The size and the limit of a queue or cache, and what was lost at the limit since the process started. */
export interface QueueStats {
  readonly used: number;
  /** Undefined when something else bounds it. */
  readonly limit: number | undefined;
  /** Entries that were dropped at the limit. */
  readonly dropped?: number;
  /** Entries that were refused at the limit, with an error to the sender. */
  readonly refused?: number;
}
