/** What a token bucket holds and when it last did. */
export interface TokenBucketOptions {
  /** Above 0. */
  tokensPerS: number;
  /** Tokens it can hold, at least 1; it begins full. */
  capacity: number;
  /** Of a clock that never goes back, ms. */
  nowMs: () => number;
}

/** Lets a burst of `capacity` pass, and `tokensPerS` a second in the long run. */
export class TokenBucket {
  readonly #options: TokenBucketOptions;
  #tokens: number;
  #filledAtMs: number;

  constructor(options: TokenBucketOptions) {
    this.#options = options;
    this.#tokens = options.capacity;
    this.#filledAtMs = options.nowMs();
  }

  /** Takes a token; false when there is none. */
  take(): boolean {
    const { tokensPerS, capacity, nowMs } = this.#options;
    const atMs = nowMs();
    this.#tokens = Math.min(capacity, this.#tokens + ((atMs - this.#filledAtMs) / 1_000) * tokensPerS);
    this.#filledAtMs = atMs;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
