import type { QueueStats } from '../../ports/queue-stats.ts';

/**
 * The maximum number of requests whose results are expected. Beyond it a request is not followed: its tick has no
 * record of the entity.
 */
const MAX_EXPECTED = 500_000;
/**
 * The maximum number of requests of one entity and check whose results are expected. Beyond it the oldest are not
 * followed.
 */
const MAX_OF_KEY = 128;
const BUCKET_MS = 5_000;

/** A request that was sent to one session. */
export interface RequestReceipt {
  readonly sessionId: string;
  readonly agentName: string;
  /** Whether it was dropped from the queue of the session. */
  isDropped: boolean;
}

/** A request of a check for one entity. */
export interface ExpectedResult {
  /** `<namespace>/<entity>/<check>` */
  readonly key: string;
  /** The tick that requested it, Unix ms; undefined for a request of a user. */
  readonly tickAtMs: number | undefined;
  readonly issuedS: number;
  readonly receipts: readonly RequestReceipt[];
  /** Whether an earlier request had the same time, so that agents refuse this one. */
  readonly isRepeated: boolean;
  isAnswered: boolean;
}

/** The results that requests lead to, until they arrive or their time has passed. */
export class ExpectedResults {
  /** Requests without a result, since the process started. */
  unanswered = 0;
  readonly #byKey = new Map<string, ExpectedResult[]>();
  /** The same, by the time at which they are overdue. */
  readonly #buckets = new Map<number, ExpectedResult[]>();
  #size = 0;
  #refused = 0;

  get stats(): QueueStats {
    return { used: this.#size, limit: MAX_EXPECTED, refused: this.#refused };
  }

  /** A request was sent; its result is expected until `overdueAtMs`, in steady time. */
  expect(request: Pick<ExpectedResult, 'key' | 'tickAtMs' | 'issuedS' | 'receipts'>, overdueAtMs: number): void {
    const ofKey = this.#byKey.get(request.key) ?? [];
    if (this.#size >= MAX_EXPECTED || ofKey.length >= MAX_OF_KEY) {
      this.#refused += 1;
      return;
    }
    const isRepeated = ofKey.some(({ issuedS }) => issuedS === request.issuedS);
    const expected = { ...request, isRepeated, isAnswered: false };
    ofKey.push(expected);
    this.#byKey.set(request.key, ofKey);
    const bucket = Math.ceil(overdueAtMs / BUCKET_MS);
    const ofBucket = this.#buckets.get(bucket);
    if (ofBucket === undefined) this.#buckets.set(bucket, [expected]);
    else ofBucket.push(expected);
    this.#size += 1;
  }

  /** Returns the request that a result answers; undefined when none is expected. A repeated result answers it again. */
  answer(key: string, issuedS: number): ExpectedResult | undefined {
    const ofKey = this.#byKey.get(key);
    const expected = ofKey?.findLast((request) => request.issuedS === issuedS && !request.isRepeated);
    if (expected !== undefined) expected.isAnswered = true;
    return expected;
  }

  /** Results that arrived may not be stored. */
  storeLost(): void {
    for (const ofKey of this.#byKey.values()) for (const expected of ofKey) expected.isAnswered = false;
  }

  /** Removes requests that are overdue, at least `limit` of them if there are that many, and returns those without a result. */
  takeOverdue(steadyMs: number, limit: number): ExpectedResult[] {
    const taken: ExpectedResult[] = [];
    for (const [bucket, ofBucket] of this.#buckets) {
      if (taken.length >= limit) break;
      if (bucket * BUCKET_MS > steadyMs) continue;
      const now = ofBucket.splice(0, limit - taken.length);
      if (ofBucket.length === 0) this.#buckets.delete(bucket);
      for (const expected of now) this.#forget(expected);
      taken.push(...now);
    }
    const unanswered = taken.filter(({ isAnswered }) => !isAnswered);
    this.unanswered += unanswered.length;
    return unanswered;
  }

  #forget(expected: ExpectedResult): void {
    this.#size -= 1;
    const left = this.#byKey.get(expected.key)?.filter((other) => other !== expected) ?? [];
    if (left.length === 0) this.#byKey.delete(expected.key);
    else this.#byKey.set(expected.key, left);
  }
}
