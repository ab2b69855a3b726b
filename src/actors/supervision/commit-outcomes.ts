import type { CommitterListener, LostKeys } from '../../store/commit/committer.ts';
import type { Announcement } from '../../store/commit/decision.ts';
import type { SystemListeners } from '../core/system-listeners.ts';
import type { Pressure } from '../time/pressure.ts';
import type { BlindRecorder } from './blind-recorder.ts';
import type { StoreRecovery } from './store-recovery.ts';

export interface CommitOutcomesPorts {
  committer: { readonly isFailing: boolean };
  pressure: Pick<Pressure, 'isFull' | 'relieved'>;
  blindRecorder: Pick<BlindRecorder, 'ended'>;
  recovery: Pick<StoreRecovery, 'lost' | 'recovered'>;
  listeners: Pick<SystemListeners, 'announced' | 'committed' | 'resumed'>;
}

/** Follows the committer: announces what became durable, and lets senders continue when no queue is full any more. */
export class CommitOutcomes implements CommitterListener {
  readonly #ports: CommitOutcomesPorts;

  constructor(ports: CommitOutcomesPorts) {
    this.#ports = ports;
  }

  /** Whether senders must pause: too many changes wait, or the store cannot be written. */
  get mustPause(): boolean {
    const { pressure, committer } = this.#ports;
    return pressure.isFull || committer.isFailing;
  }

  committed(announcements: readonly Announcement[]): void {
    const { listeners, pressure, blindRecorder } = this.#ports;
    listeners.announced(announcements);
    listeners.committed();
    const pause = pressure.relieved();
    if (pause !== undefined) blindRecorder.ended('readers.resumed', pause, 0);
    if (!this.mustPause) listeners.resumed();
  }

  lost(keys: LostKeys, error: Error): void {
    this.#ports.recovery.lost(keys, error);
  }

  recovered(): void {
    this.#ports.recovery.recovered();
  }
}
