/** The only way time enters the program. */
export interface Clock {
  /** Wall clock, Unix milliseconds; may jump. */
  nowMs(): number;
  /** Milliseconds since some fixed moment; never jumps, stands still during a suspend. */
  monotonicMs(): number;
  /** Milliseconds since some fixed moment, in steps of about ten; never jumps, goes on during a suspend. */
  uptimeMs(): number;
  /** Calls `fire` once after `delayMs`, at least; the returned function cancels it. Delays above 24.8 days are the caller's to split. */
  after(delayMs: number, fire: () => void): () => void;
}
