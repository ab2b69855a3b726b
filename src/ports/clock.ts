/** The only source of time in the program. */
export interface Clock {
  /** Wall clock, Unix milliseconds; may jump. */
  nowMs(): number;
  /** Milliseconds since a fixed time; never jumps, stands still during a suspend. */
  monotonicMs(): number;
  /** Milliseconds since a fixed time, in steps of about ten; never jumps, and continues during a suspend. */
  uptimeMs(): number;
  /** Calls `fire` once, after at least `delayMs`; the returned function cancels it. Callers split delays above 24.8 days. */
  after(delayMs: number, fire: () => void): () => void;
}
