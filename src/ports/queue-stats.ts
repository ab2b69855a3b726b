/** How full something is that may grow up to a bound, and what the bound has cost since the process started. */
export interface QueueStats {
  readonly used: number;
  /** Undefined where something else bounds it. */
  readonly limit: number | undefined;
  /** What was thrown away at the bound. */
  readonly dropped?: number;
  /** What was not taken at the bound; whoever asked was told. */
  readonly refused?: number;
}
