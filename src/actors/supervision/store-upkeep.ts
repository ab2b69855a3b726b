import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { TransactionalStore } from '../../store/commit/transactional-store.ts';
import { VisibleStore } from '../../store/visible-store.ts';
import type { Decider } from '../core/decider.ts';
import type { Settings } from '../core/settings.ts';
import type { Pressure } from '../time/pressure.ts';
import { DeletionSteps } from './deletion-steps.ts';
import { EventRetention } from './event-retention.ts';
import { LedgerRetention } from './ledger-retention.ts';
import { NotificationRetention } from './notification-retention.ts';

interface StoreUpkeepPorts {
  store: TransactionalStore;
  decider: Decider;
  pressure: Pressure;
  clock: Clock;
  log: Log;
  backendName: string;
  settings: Settings;
}

/** Removes from the store, in bounded steps, what was deleted and what is older than its retention. */
export class StoreUpkeep {
  readonly deletions: DeletionSteps;
  readonly notifications: NotificationRetention;
  readonly #parts: readonly { start(): void; stop(): void }[];

  constructor({ pressure, settings, backendName, ...ports }: StoreUpkeepPorts) {
    const { notificationRetentionMs, ledgerLimits, eventRetentionMs } = settings;
    this.deletions = new DeletionSteps({ ...ports, pressure });
    this.notifications = new NotificationRetention({ ...ports, retentionMs: notificationRetentionMs });
    const ledger = new LedgerRetention({ ...ports, backendName, limits: ledgerLimits });
    const visible = new VisibleStore(ports.store);
    const events = new EventRetention({ ...ports, store: visible, retentionMs: eventRetentionMs });
    this.#parts = [this.deletions, this.notifications, ledger, events];
  }

  start(): void {
    for (const part of this.#parts) part.start();
  }

  stop(): void {
    for (const part of this.#parts) part.stop();
  }
}
