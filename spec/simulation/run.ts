import { report, simulate } from './simulation.ts';
import { seeds } from './seeds.ts';

/** Number of runs unless the command line gives one. */
const DEFAULT_RUNS = 1_000;

/** Arguments: `npm run test:sim -- 10000` runs that many seeds, `npm run test:sim -- --seed 1000017` repeats one run. */
const [first = String(DEFAULT_RUNS), second] = process.argv.slice(2);
const chosenSeeds = first === '--seed' ? [Number(second)] : seeds(Number(first));
let differing = 0;
for (const seed of chosenSeeds) {
  const run = await simulate(seed);
  if (run.differences.length === 0) continue;
  differing += 1;
  process.stdout.write(`${report(run)}\n`);
}
process.stdout.write(`${chosenSeeds.length} runs, ${differing} with differences\n`);
process.exitCode = differing === 0 ? 0 : 1;
