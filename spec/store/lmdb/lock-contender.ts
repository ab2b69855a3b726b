import { createInterface } from 'node:readline';
import { lockStore, type StoreLock } from '../../../src/store/lmdb/store-lock.ts';

/**
 * A process that takes the lock of the directory in its argument at each line `take`, ends it at `release` or `releaseAndRemove`, and answers every
 * line.
 */
const [, , directory = ''] = process.argv;
let lock: StoreLock | undefined;

function take(): string {
  try {
    lock = lockStore(directory);
    return 'owner';
  } catch (error) {
    return (error as Error).message;
  }
}

function end(how: keyof StoreLock): string {
  lock?.[how]();
  lock = undefined;
  return 'free';
}

process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(
    `${line === 'take' ? take() : end(line === 'releaseAndRemove' ? 'releaseAndRemove' : 'release')}\n`,
  );
}
