import { renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { DiskQueue } from '../../store/disk-queue.ts';
import { isUnchangedSinceCleanStop } from '../../store/lmdb/clean-stop.ts';
import { DATA_FILE } from '../../store/lmdb/lmdb-file.ts';
import { damageFoundBy } from './damage-check.ts';

/** The value of the cache directory of an agent with which nothing is written to disk. */
export const NO_DIRECTORY = '/dev/null';
/** The name of the queue's directory within the cache directory. */
export const QUEUE = 'queue';

export const queueDirectory = (cacheDir: string): string => join(cacheDir, QUEUE);

/** How long the start waits for another agent with the same cache directory to end, which a restart needs. */
const QUEUE_WAIT_MS = 60_000;

/**
 * Opens the queue of an agent. A damaged one is moved aside to `<directory>.damaged`, in place of an earlier one there, and a new
 * one is created. Waits for a minute, with a warning, while another agent uses it.
 *
 * @throws StoreInUse, or the system's error
 */
export async function openQueue(directory: string, { clock, log }: { clock: Clock; log: Log }): Promise<DiskQueue> {
  const damage = await damageOf(directory);
  if (damage !== undefined) {
    const aside = `${directory}.damaged`;
    rmSync(aside, { recursive: true, force: true });
    renameSync(directory, aside);
    log.error({ path: aside, reason: damage }, 'event queue is damaged and was moved aside, its events are not sent');
  }
  return DiskQueue.open(directory, clock, QUEUE_WAIT_MS, (error) => {
    const { message } = error;
    log.warn(
      { flag: 'cache-dir', error: message },
      `the directory of --cache-dir is in use, waiting up to ${QUEUE_WAIT_MS / 1000} s for it`,
    );
  });
}

/** Returns what is damaged; undefined when the queue is intact, as a clean stop left it, or could not be checked. */
async function damageOf(directory: string): Promise<string | undefined> {
  if ((statSync(join(directory, DATA_FILE), { throwIfNoEntry: false })?.size ?? 0) === 0) return undefined;
  if (isUnchangedSinceCleanStop(directory)) return undefined;
  return damageFoundBy('queue-check', directory);
}
