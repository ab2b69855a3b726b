import { report, simulate } from './simulation.ts';
import { seeds } from './seeds.ts';

/** Without a number of runs. */
const DEFAULT_RUNS = 1_000;

/** `npm run test:sim -- 10000`, or `npm run test:sim -- --seed 1000017` to see one again. */
const [first = String(DEFAULT_RUNS), second] = process.argv.slice(2);
const chosen = first === '--seed' ? [Number(second)] : seeds(Number(first));
let differing = 0;
for (const seed of chosen) {
  const run = await simulate(seed);
  if (run.differences.length === 0) continue;
  differing += 1;
  process.stdout.write(`${report(run)}\n`);
}
process.stdout.write(`${chosen.length} runs, ${differing} differ\n`);
process.exitCode = differing === 0 ? 0 : 1;
