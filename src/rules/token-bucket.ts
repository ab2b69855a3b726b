export interface TokenBucketOptions {
  /** The refill rate, above 0. */
  tokensPerS: number;
  /** The maximum number of tokens, at least 1. The bucket starts full. */
  capacity: number;
  /** Returns the time of a monotonic clock in ms. */
  nowMs: () => number;
}

/** Allows bursts of `capacity`, and `tokensPerS` per second on average. */
export class TokenBucket {
  readonly #options: TokenBucketOptions;
  #tokens: number;
  #filledAtMs: number;

  constructor(options: TokenBucketOptions) {
    this.#options = options;
    this.#tokens = options.capacity;
    this.#filledAtMs = options.nowMs();
  }

  /** Takes a token. Returns false when there is none. */
  take(): boolean {
    this.#refill();
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** The time until the next token, in whole ms. */
  get waitMs(): number {
    this.#refill();
    return Math.max(0, Math.ceil(((1 - this.#tokens) / this.#options.tokensPerS) * 1_000));
  }

  #refill(): void {
    const { tokensPerS, capacity, nowMs } = this.#options;
    const atMs = nowMs();
    this.#tokens = Math.min(capacity, this.#tokens + ((atMs - this.#filledAtMs) / 1_000) * tokensPerS);
    this.#filledAtMs = atMs;
  }
}
