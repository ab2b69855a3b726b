import type { ActorKind } from '../core/actor-kind.ts';

/** An actor with this many failures within the window is quarantined. */
const MAX_FAILURES = 5;
const WINDOW_MS = 60_000;
const FIRST_RETRY_MS = 60_000;
const MAX_RETRY_MS = 3_600_000;

interface FailureRecord {
  kind: ActorKind;
  key: string;
  failuresAtMs: number[];
  /** Quarantines in a row; each lasts twice as long as the one before, up to an hour. */
  attempts: number;
  quarantined: boolean;
  releasedAtMs: number;
}

/** Keeps the actors that fail too often from receiving events. */
export class Quarantine {
  readonly #records = new Map<string, FailureRecord>();

  has(kind: ActorKind, key: string): boolean {
    return this.#records.size > 0 && this.#records.get(`${kind}/${key}`)?.quarantined === true;
  }

  /** Counts a failure. Returns how long to wait before the next try when the actor is now quarantined. */
  failed(kind: ActorKind, key: string, atMs: number): number | undefined {
    const id = `${kind}/${key}`;
    const record = this.#records.get(id) ?? {
      kind,
      key,
      failuresAtMs: [],
      attempts: 0,
      quarantined: false,
      releasedAtMs: 0,
    };
    this.#records.set(id, record);
    record.failuresAtMs = [...record.failuresAtMs.filter((failedAtMs) => atMs - failedAtMs < WINDOW_MS), atMs];
    const onProbation = record.attempts > 0;
    if (record.quarantined || (!onProbation && record.failuresAtMs.length < MAX_FAILURES)) return undefined;
    record.quarantined = true;
    record.attempts += 1;
    return Math.min(FIRST_RETRY_MS * 2 ** (record.attempts - 1), MAX_RETRY_MS);
  }

  /** Lets the actor run again; its next failure quarantines it at once. False when it was not quarantined. */
  release(kind: ActorKind, key: string, atMs: number): boolean {
    const record = this.#records.get(`${kind}/${key}`);
    if (record?.quarantined !== true) return false;
    record.quarantined = false;
    record.releasedAtMs = atMs;
    return true;
  }

  /** Forgets released actors that have not failed for the length of the window. */
  forgetHealthy(atMs: number): void {
    for (const [id, { quarantined, failuresAtMs, releasedAtMs }] of this.#records) {
      const healthySinceMs = Math.max(releasedAtMs, failuresAtMs.at(-1) ?? 0);
      if (!quarantined && atMs - healthySinceMs >= WINDOW_MS) this.#records.delete(id);
    }
  }

  /** `<kind>/<key>` of every quarantined actor. */
  get quarantined(): string[] {
    return [...this.#records].filter(([, record]) => record.quarantined).map(([id]) => id);
  }
}
