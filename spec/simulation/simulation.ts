import { RandomRun } from './random-run.ts';
import { World } from './world.ts';

/** Things that happen in a run; with their gaps, stops and suspends they take some minutes of simulated time. */
const STEPS = 110;

/** What a run met: so that nobody takes a run in which nothing happens for one in which nothing fails. */
export interface Met {
  crashes: number;
  storeFailures: number;
  handlerRuns: number;
  /** Requests of checks that two connections of one name got. */
  sharedRequests: number;
  /** By `<actor>: <from> -> <to>`. */
  transitions: ReadonlyMap<string, number>;
  /** By `<actor>: <event>`. */
  events: ReadonlyMap<string, number>;
}

export interface Run extends Met {
  seed: number;
  /** How many things happened; fewer than planned when something differed. */
  steps: number;
  /** Empty when everything was as predicted. */
  differences: readonly string[];
}

/** Plays one life of the backend. The same seed is the same life. */
export async function simulate(seed: number): Promise<Run> {
  const world = new World(seed);
  const life = new RandomRun(world);
  const { differences } = world;
  let steps = 0;
  const goesOn = (): boolean => differences.found.length === 0 && !world.isUndecided;
  await life.begin();
  while (steps < STEPS && goesOn()) {
    steps += 1;
    await life.step();
  }
  if (goesOn()) await world.close();
  else world.crash();
  return {
    seed,
    steps,
    // What comes after a tie cannot be predicted.
    differences: world.isUndecided ? [] : differences.found,
    crashes: world.crashes,
    storeFailures: world.losses,
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

/** What differed first, and what to do to see it again. */
export function report({ seed, steps, differences }: Run): string {
  return [`seed ${seed} differs at step ${steps}; again with: npm run test:sim -- --seed ${seed}`, ...differences].join(
    '\n  ',
  );
}
