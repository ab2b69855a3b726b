import { hash } from 'node:crypto';
import { percentile } from '../support/measured.ts';
import { memoryOf } from '../support/process-stats.ts';

/** Deadlines in the far future, and near ones that are spread over a number of seconds. */
export interface RawDeadlineQueue {
  far: number;
  near: number;
  overSeconds: number;
}

/** The stats of a process with keys, their deadlines and one timer only. */
export interface RawDeadlineQueueStats {
  residentMb: number;
  latenessP99Ms: number;
}

interface Deadline {
  key: string;
  atMs: number;
}

const FAR_MS = 3_600_000;
const BEGIN_MS = 500;
const { far, near, overSeconds } = JSON.parse(process.argv[2] ?? '{}') as RawDeadlineQueue;
const beginMs = Date.now() + BEGIN_MS;
const deadlineAt = (index: number, atMs: number): Deadline => ({ key: hash('md5', `${index}`), atMs });
const queue = [
  ...Array.from({ length: near }, (_, index) =>
    deadlineAt(index, Math.ceil(beginMs + (index / near) * overSeconds * 1_000)),
  ),
  ...Array.from({ length: far }, (_, index) => deadlineAt(near + index, beginMs + FAR_MS)),
];
const byKey = new Map(queue.map((deadline) => [deadline.key, deadline]));
const latenessesMs: number[] = [];

/** Resolves when the near deadlines have been reached. */
async function fire(): Promise<void> {
  for (const { key, atMs } of queue) {
    if (atMs >= beginMs + FAR_MS) return;
    while (Date.now() < atMs) await new Promise((resolve) => setTimeout(resolve, atMs - Date.now()));
    byKey.delete(key);
    latenessesMs.push(Date.now() - atMs);
  }
}

await fire();
latenessesMs.sort((a, b) => a - b);
const stats: RawDeadlineQueueStats = {
  residentMb: memoryOf(process.pid).residentMb,
  latenessP99Ms: percentile(latenessesMs, 0.99),
};
process.send?.(stats, () => process.exit(0));
