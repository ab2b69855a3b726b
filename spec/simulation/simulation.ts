import { RandomRun } from './random-run.ts';
import { World } from './world.ts';

/** Steps of a run. With their pauses and suspends they take some minutes of simulated time. */
const STEPS = 110;

/** Counts of what occurred in a run, to show that a run without differences tested something. */
export interface RunCounts {
  crashes: number;
  storeFailures: number;
  handlerRuns: number;
  /** Check requests that both connections of one name received. */
  sharedRequests: number;
  /** By `<actor>: <from> -> <to>`. */
  transitions: ReadonlyMap<string, number>;
  /** By `<actor>: <event>`. */
  events: ReadonlyMap<string, number>;
}

export interface Run extends RunCounts {
  seed: number;
  /** Steps performed; fewer than planned if there was a difference. */
  steps: number;
  /** Empty if everything was as predicted. */
  differences: readonly string[];
}

/** Runs one simulation. The same seed gives the same run. */
export async function simulate(seed: number): Promise<Run> {
  const world = new World(seed);
  const run = new RandomRun(world);
  const { differences } = world;
  let steps = 0;
  const canContinue = (): boolean => differences.found.length === 0 && !world.isUndecided;
  await run.begin();
  while (steps < STEPS && canContinue()) {
    steps += 1;
    await run.step();
  }
  if (canContinue()) await world.close();
  else world.crash();
  return {
    seed,
    steps,
    // The order of simultaneous alerts is not specified, and what follows depends on it.
    differences: world.isUndecided ? [] : differences.found,
    crashes: world.crashes,
    storeFailures: world.storeFailures,
    handlerRuns: world.handlerRuns.runs,
    sharedRequests: world.sharedRequests,
    transitions: countOf(world.ledger.map(({ actor, from, to }) => `${actor}: ${from} -> ${to}`)),
    events: countOf(world.ledger.map(({ actor, event }) => `${actor}: ${event}`)),
  };
}

function countOf(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

/** Returns the differences of a run and the command that repeats it. */
export function report({ seed, steps, differences }: Run): string {
  return [
    `seed ${seed} differs at step ${steps}; repeat with: npm run test:sim -- --seed ${seed}`,
    ...differences,
  ].join('\n  ');
}
