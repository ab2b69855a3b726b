import { join } from 'node:path';
import { workerData } from 'node:worker_threads';
import { ensureDirectory } from '../../../src/main/process/ensure-directory.ts';

/** What the threads have: the number of arrivals of all of them, and where they create directories. */
export interface Shared {
  arrivals: Int32Array<SharedArrayBuffer>;
  threads: number;
  parent: string;
  directories: number;
}

const { arrivals, threads, parent, directories } = workerData as Shared;

for (let round = 1; round <= directories; round += 1) {
  Atomics.add(arrivals, 0, 1);
  // The threads leave this loop together.
  while (Atomics.load(arrivals, 0) < threads * round);
  ensureDirectory('state-dir', join(parent, String(round)), 'store');
}
