import { renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '../../ports/log.ts';
import { DiskQueue } from '../../store/disk-queue.ts';
import { isUnchangedSinceCleanStop } from '../../store/lmdb/clean-stop.ts';
import { DATA_FILE } from '../../store/lmdb/lmdb-file.ts';
import { damageFoundBy } from './probe.ts';
import { systemClock } from './system-clock.ts';

/** How long the start waits for another agent with the same cache directory to end. */
const QUEUE_WAIT_MS = 60_000;

/**
 * Opens the queue of an agent. A damaged one is moved aside to `<directory>.damaged`, in place of an earlier one there, and a new
 * one is created.
 *
 * @throws StoreInUse, or the system's error
 */
export async function openQueue(directory: string, log: Log): Promise<DiskQueue> {
  const damage = await damageOf(directory);
  if (damage !== undefined) {
    const aside = `${directory}.damaged`;
    rmSync(aside, { recursive: true, force: true });
    renameSync(directory, aside);
    log.error({ path: aside, reason: damage }, 'event queue is damaged and was moved aside, its events are not sent');
  }
  return DiskQueue.open(directory, systemClock, QUEUE_WAIT_MS);
}

/** Returns what is damaged; undefined when the queue is intact, as a clean stop left it, or could not be checked. */
async function damageOf(directory: string): Promise<string | undefined> {
  if ((statSync(join(directory, DATA_FILE), { throwIfNoEntry: false })?.size ?? 0) === 0) return undefined;
  if (isUnchangedSinceCleanStop(directory)) return undefined;
  return damageFoundBy('queue-check', directory);
}
