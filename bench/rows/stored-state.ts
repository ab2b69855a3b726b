import { setTimeout as delay } from 'node:timers/promises';
import { storeDirectory } from '../../src/main/process/directories.ts';
import { type BenchedBackend, withBackend, withState } from '../support/benched-backend.ts';
import { HERE } from '../support/checkout.ts';
import type { Row } from '../support/measured.ts';
import { memoryOf } from '../support/process-stats.ts';
import type { RawDeadlineQueue, RawDeadlineQueueStats } from '../workers/raw-deadline-queue.ts';
import type { SeededState } from '../workers/seed-state.ts';
import { runWorker } from '../support/workers.ts';

export const STORED_ENTITIES = 50_000;
export const CHECKS_PER_ENTITY = 2;
/** After a start, until its garbage is collected. */
export const SETTLE_MS = 5_000;

export interface StartStats {
  /** From the start of the process until it is ready and all deadlines are armed. */
  readyMs: number;
  /** Right after that, while every actor is evicted. */
  evictedMb: number;
  /** The part of it that is mapped files, mostly the store. */
  mappedMb: number;
}

/** Runs with a state directory that holds this many agents, written by the code of a backend of a checkout. */
export function withSeededState<T>(
  entities: number,
  run: (stateDir: string) => Promise<T>,
  checkout = HERE,
): Promise<T> {
  return withState(async (stateDir) => {
    const seeded: SeededState = { stateDir, entities, checksPerEntity: CHECKS_PER_ENTITY };
    await runWorker('seed-state', seeded, checkout);
    return run(stateDir);
  }, checkout);
}

/** Starts a backend on a seeded state; `then` may use it. */
export function measureStart<T>(
  stateDir: string,
  then: (stats: StartStats, backend: BenchedBackend) => Promise<T> | T,
  checkout = HERE,
): Promise<T> {
  return withBackend(
    async (backend) => {
      await delay(SETTLE_MS);
      const { residentMb, mappedMb } = memoryOf(backend.pid);
      return then({ readyMs: backend.readyMs, evictedMb: residentMb, mappedMb }, backend);
    },
    { stateDir, checkout },
  );
}

/** G7 and G8: the memory of a stored state, and the time of the next start with it. */
export function storedState(): Promise<Row[]> {
  return withSeededState(STORED_ENTITIES, async (stateDir) => {
    const scanMs = await runWorker<number>('raw-scan', { directory: storeDirectory(stateDir) });
    const deadlineQueue: RawDeadlineQueue = { far: STORED_ENTITIES * (1 + CHECKS_PER_ENTITY), near: 0, overSeconds: 0 };
    const { residentMb: queueMb } = await runWorker<RawDeadlineQueueStats>('raw-deadline-queue', deadlineQueue);
    const { readyMs, evictedMb } = await measureStart(stateDir, (stats) => stats);
    return [
      {
        id: 'G7',
        what: '50,000 entities, 100,000 armed events after a restart, evicted; limit: raw deadline queue',
        unit: 'MB',
        value: evictedMb,
        rawLimit: queueMb,
        floor: 700,
        isCost: true,
        isFixed: true,
      },
      {
        id: 'G8',
        what: 'restart to ready with that state; limit: raw scan of it',
        unit: 's',
        value: readyMs / 1_000,
        rawLimit: scanMs / 1_000,
        floor: 3,
        isCost: true,
      },
    ];
  });
}
