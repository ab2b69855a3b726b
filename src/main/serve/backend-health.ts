import { statfs } from 'node:fs/promises';
import type { ActorSystem } from '../../actors/system.ts';
import type { BackendHealth } from '../../http/routes/backend-health.ts';
import type { Pipeline } from '../../pipeline/pipeline.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { TransactionalStore } from '../../store/commit/transactional-store.ts';

const INTERVAL_MS = 60_000;
/** The samples of an hour. */
const MAX_KEPT_SAMPLES = 60;
/** The shortest time on which a forecast is based. */
const MIN_OBSERVED_MS = 300_000;
/** No forecast is made beyond this time. */
const MAX_AHEAD_MS = 365 * 86_400_000;

export interface DiskSample {
  atMs: number;
  freeBytes: number;
  totalBytes: number;
}

export interface BackendHealthParts {
  system: Pick<ActorSystem, 'stats'>;
  store: Pick<TransactionalStore, 'size'>;
  pipeline: Pick<Pipeline, 'outbox'>;
  metrics: { readonly lag: BackendHealth['lag'] };
  stateDir: string;
  clock: Clock;
  log: Log;
}

/** Reads the health of the backend. Samples the free space of the disk of the store until `stop`. */
export function watchBackendHealth({ system, store, pipeline, metrics, stateDir, clock, log }: BackendHealthParts): {
  read(): BackendHealth;
  stop(): void;
} {
  const startedAtMs = clock.nowMs();
  const samples: DiskSample[] = [];
  let isStopped = false;
  let cancel = (): void => undefined;
  const sample = async (): Promise<void> => {
    try {
      const { bavail, blocks, bsize } = await statfs(stateDir);
      samples.push({ atMs: clock.nowMs(), freeBytes: bavail * bsize, totalBytes: blocks * bsize });
      if (samples.length > MAX_KEPT_SAMPLES) samples.shift();
    } catch (err) {
      log.warn({ err }, 'could not read the free space of the state directory');
    }
    if (!isStopped) cancel = clock.after(INTERVAL_MS, () => void sample());
  };
  void sample();
  return {
    read: () => {
      const { ledgerSeq, blindMs, refused, quarantined, openDecisions, notifications } = system.stats();
      const last = samples.at(-1);
      return {
        startedAtMs,
        ledgerSeq,
        lag: metrics.lag,
        blindMs,
        refused,
        quarantined: Object.values(quarantined).reduce((sum, count) => sum + count, 0),
        openDecisions,
        outbox: pipeline.outbox,
        deadLetters: notifications.deadLetters,
        storeBytes: store.size?.()?.bytes,
        disk: last && { freeBytes: last.freeBytes, totalBytes: last.totalBytes, fullAtMs: fullAtMs(samples) },
      };
    },
    stop: () => {
      isStopped = true;
      cancel();
    },
  };
}

/** The time at which the disk is full at the rate between the first and the last sample; undefined when it does not fill. */
export function fullAtMs(samples: readonly DiskSample[]): number | undefined {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const [elapsedMs, usedBytes] = [last.atMs - first.atMs, first.freeBytes - last.freeBytes];
  if (elapsedMs < MIN_OBSERVED_MS || usedBytes <= 0) return undefined;
  const aheadMs = (last.freeBytes / usedBytes) * elapsedMs;
  return aheadMs > MAX_AHEAD_MS ? undefined : last.atMs + aheadMs;
}
