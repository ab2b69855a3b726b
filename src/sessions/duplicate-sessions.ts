import type { Clock } from '../ports/clock.ts';

/** Minimum time between two notifications for one agent name. */
const INTERVAL_MS = 1_000;

/**
 * Notifies the sessions of an agent name when another session with that name opens: at once for the first, then at most
 * once a second with the newest.
 */
export class DuplicateSessions<S extends { namespace: string; agentName: string }> {
  readonly #clock: Clock;
  readonly #notify: (newest: S) => void;
  /** Names notified within the interval, with the newest session opened since. */
  readonly #recent = new Map<string, { newest: S | undefined; cancel(): void }>();

  /** `notify` must notify all sessions of the name except the newest, and must not throw. */
  constructor(clock: Clock, notify: (newest: S) => void) {
    this.#clock = clock;
    this.#notify = notify;
  }

  opened(session: S): void {
    const key = `${session.namespace}/${session.agentName}`;
    const recent = this.#recent.get(key);
    if (recent === undefined) this.#notifyAndWait(key, session);
    else recent.newest = session;
  }

  #notifyAndWait(key: string, newest: S): void {
    const cancel = this.#clock.after(INTERVAL_MS, () => {
      const waiting = this.#recent.get(key)?.newest;
      this.#recent.delete(key);
      if (waiting !== undefined) this.#notifyAndWait(key, waiting);
    });
    this.#recent.set(key, { newest: undefined, cancel });
    this.#notify(newest);
  }

  stop(): void {
    for (const { cancel } of this.#recent.values()) cancel();
    this.#recent.clear();
  }
}
