import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { ConfigurationKinds } from '../resources/configuration-kinds.ts';
import type { System } from '../resources/entity.ts';
import type { TransactionalStore } from '../store/commit/transactional-store.ts';
import type { Machines } from './core/machines.ts';
import type { Settings } from './core/settings.ts';
import type { MemorySource } from './supervision/memory-guard.ts';
import type { OwnMetadata } from './supervision/own-entity.ts';

/** The dependencies of the system of actors. */
export interface SystemPorts {
  store: TransactionalStore;
  clock: Clock;
  log: Log;
  /** The name of the backend's own entity. */
  backendName: string;
  /** The machine that the backend runs on. */
  machine?: System | undefined;
  /** Labels and annotations of the backend's own entity. */
  ownMetadata?: OwnMetadata | undefined;
  machines?: Machines | undefined;
  configurationKinds?: ConfigurationKinds | undefined;
  /** The handler for agents that leave and name none. */
  deregistrationHandler?: string | undefined;
  /** Settings that differ from `DEFAULT_SETTINGS`. */
  settings?: Partial<Settings>;
  /** Actors that may be awake at once; the others are evicted to the store. */
  maxAwakeActors?: number | undefined;
  /** The free space of the disk of the store. */
  freeDiskBytes?: (() => number) | undefined;
  /** The memory of the process; not monitored when absent. */
  memory?: MemorySource | undefined;
}
