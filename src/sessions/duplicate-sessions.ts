import type { Clock } from '../ports/clock.ts';

/** How often the sessions of one name are told that another has opened, however many do. */
const INTERVAL_MS = 1_000;

/** Tells the sessions of a name what those told hear who open another: at once, and what comes after it once in a second. */
export class DuplicateSessions<S extends { namespace: string; agentName: string }> {
  readonly #clock: Clock;
  readonly #tell: (newest: S) => void;
  /** Names that were told less than a second ago, with the session that has opened since. */
  readonly #told = new Map<string, { newest: S | undefined; cancel(): void }>();

  /** `tell` tells all sessions of the name but the newest. Must not throw. */
  constructor(clock: Clock, tell: (newest: S) => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  opened(session: S): void {
    const key = `${session.namespace}/${session.agentName}`;
    const told = this.#told.get(key);
    if (told === undefined) this.#tellAll(key, session);
    else told.newest = session;
  }

  #tellAll(key: string, newest: S): void {
    const cancel = this.#clock.after(INTERVAL_MS, () => {
      const waiting = this.#told.get(key)?.newest;
      this.#told.delete(key);
      if (waiting !== undefined) this.#tellAll(key, waiting);
    });
    this.#told.set(key, { newest: undefined, cancel });
    this.#tell(newest);
  }

  stop(): void {
    for (const { cancel } of this.#told.values()) cancel();
    this.#told.clear();
  }
}
