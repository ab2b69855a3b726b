import { DiskQueue } from '../store/disk-queue.ts';
import { isDamage } from '../store/maintenance/is-damage.ts';
import { EXIT_DAMAGED } from './process/damage-check.ts';
import { systemClock } from './process/system-clock.ts';

/**
 * Uses the queue in its argument as an agent does at its start. It is a program of its own, because LMDB ends the process when it
 * finds a damaged page. It writes the reason to standard error.
 */
async function check(directory: string): Promise<number> {
  try {
    const queue = await DiskQueue.open(directory, systemClock, 0);
    try {
      // Reading the index verifies every event. Only damaged events are dropped.
      for (const { n } of queue.index()) void n;
    } finally {
      await queue.close();
    }
    return 0;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    return isDamage(error) ? EXIT_DAMAGED : 1;
  }
}

void check(process.argv[2] ?? '').then((code) => {
  process.exitCode = code;
});
