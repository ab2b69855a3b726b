import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { CycleLoad, CycleResult } from '../workers/register-cycles.ts';
import { nextMessage } from '../support/workers.ts';

/** The argument of `npm run bench` that selects it. */
export const CYCLES = 'cycles';

const LOAD: CycleLoad = { cycles: 1_000_000 };
const MAX_GROWTH = 0.05;

/** Measures the memory after a million entities were created and deleted with their check TTLs. Sets the exit code above the limit. */
export async function registerCycles(): Promise<string> {
  const worker = fork(
    fileURLToPath(new URL('../workers/register-cycles.ts', import.meta.url)),
    [JSON.stringify(LOAD)],
    {
      execArgv: ['--expose-gc', '--import', 'tsx'],
    },
  );
  const { beforeMb, afterMb, perSecond } = await nextMessage<CycleResult>(worker);
  const growth = afterMb / beforeMb - 1;
  if (growth > MAX_GROWTH) process.exitCode = 1;
  return (
    `${LOAD.cycles.toLocaleString('en')} entities with a check TTL were created and deleted, ${Math.round(perSecond)}/s: ` +
    `heap ${beforeMb.toFixed(1)} MB before, ${afterMb.toFixed(1)} MB after (${(growth * 100).toFixed(1)} %, at most ${MAX_GROWTH * 100} %)`
  );
}
