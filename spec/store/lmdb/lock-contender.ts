import { createInterface } from 'node:readline';
import { lockStore } from '../../../src/store/lmdb/store-lock.ts';

/** A process that takes the lock of the directory in its argument at each line `take`, releases it at `release`, and answers every line. */
const [, , directory = ''] = process.argv;
let lock: { release(): void } | undefined;

function take(): string {
  try {
    lock = lockStore(directory);
    return 'owner';
  } catch (error) {
    return (error as Error).message;
  }
}

function release(): string {
  lock?.release();
  lock = undefined;
  return 'released';
}

process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${line === 'take' ? take() : release()}\n`);
}
