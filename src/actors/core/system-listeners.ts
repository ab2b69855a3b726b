import type { Announcement } from '../../store/commit/decision.ts';

/** A part that is notified of what became durable, and of pauses. None of the methods may throw. */
export interface SystemListener {
  announced(announcement: Announcement): void;
  /** A transaction became durable, after its announcements. */
  committed?(): void;
  /** Senders must pause: the store cannot be written. */
  paused?(): void;
  /** Paused senders may continue. */
  resumed?(): void;
  /** The sockets were not read for `ms` by the monotonic clock. This time is not silence of the senders. */
  readsStalled?(ms: number): void;
}

/** Passes each notification on to all listeners, in the order in which they were added. */
export class SystemListeners {
  readonly #listeners: SystemListener[] = [];

  add(...listeners: readonly SystemListener[]): void {
    this.#listeners.push(...listeners);
  }

  announced(announcements: readonly Announcement[]): void {
    for (const announcement of announcements) {
      for (const listener of this.#listeners) listener.announced(announcement);
    }
  }

  committed(): void {
    for (const listener of this.#listeners) listener.committed?.();
  }

  paused(): void {
    for (const listener of this.#listeners) listener.paused?.();
  }

  resumed(): void {
    for (const listener of this.#listeners) listener.resumed?.();
  }

  readsStalled(ms: number): void {
    for (const listener of this.#listeners) listener.readsStalled?.(ms);
  }
}
