import type { CommitterListener, LostKeys } from '../../store/commit/committer.ts';
import type { Announcement } from '../../store/commit/decision.ts';

/**
 * Passes the committer's notifications on to a listener that needs the committer itself and is therefore created after
 * it.
 */
export class CommitRelay implements CommitterListener {
  #listener: CommitterListener | undefined;

  setListener(listener: CommitterListener): void {
    this.#listener = listener;
  }

  committed(announcements: readonly Announcement[]): void {
    this.#listener?.committed(announcements);
  }

  lost(keys: LostKeys, error: Error): void {
    this.#listener?.lost(keys, error);
  }

  recovered(): void {
    this.#listener?.recovered();
  }
}
