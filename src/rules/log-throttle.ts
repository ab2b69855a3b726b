import type { LRUCache } from 'lru-cache';

const LOG_INTERVAL_MS = 60_000;

export interface LoggedSubject {
  loggedAtMs: number;
  /** Occurrences since the last line. */
  count: number;
}

/** Limits the log lines about each subject to one a minute. A subject that the bounded cache has dropped is logged again. */
export class LogThrottle {
  readonly #subjects: LRUCache<string, LoggedSubject>;

  constructor(subjects: LRUCache<string, LoggedSubject>) {
    this.#subjects = subjects;
  }

  /** Counts an occurrence. If a line is due, returns the number of occurrences since the last one; otherwise undefined. */
  note(subject: string, atMs: number): number | undefined {
    const known = this.#subjects.get(subject);
    const count = (known?.count ?? 0) + 1;
    if (known !== undefined && atMs - known.loggedAtMs < LOG_INTERVAL_MS) {
      this.#subjects.set(subject, { ...known, count });
      return undefined;
    }
    this.#subjects.set(subject, { loggedAtMs: atMs, count: 0 });
    return count;
  }
}
