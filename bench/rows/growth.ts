import { setTimeout as delay } from 'node:timers/promises';
import type { BenchedBackend } from '../support/benched-backend.ts';
import { printTable } from '../support/measured.ts';
import { memoryOf } from '../support/process-stats.ts';
import { putEvents } from './rest-put.ts';
import { CHECKS_PER_ENTITY, measureStart, SETTLE_MS, type StartStats, withSeededState } from './stored-state.ts';

/** The argument of `npm run bench` that selects the second table. */
export const GROWTH = 'growth';

const SIZES = [1_000, 10_000, 50_000, 100_000];
/** Nothing may expire while a slow machine gives each key its input. */
const TTL_S = 3_600;
const CHECKS = Array.from({ length: CHECKS_PER_ENTITY }, (_, index) => `check-${index}`);
/** G1 writes the same number of keys for every size, so that only the stored state grows. */
const WRITTEN_ENTITIES = 1_000;
const KB_PER_MB = 1_024;
/** Columns of the table: per event, and per entity. */
const COSTS = ['G1', 'G7 evicted', 'G7 active', 'G8'] as const;
/** The greatest allowed ratio of each cost at the last size to that at the first. */
const MAX_GROWTH = 1.5;

type Costs = Record<(typeof COSTS)[number], number>;

interface StateStats extends StartStats {
  /** After each key has received an input. */
  activeMb: number;
}

interface Size extends StateStats {
  entities: number;
  putsPerSecond: number;
  p99Ms: number;
}

/** An input for each key of the state; a PUT of an agent's keepalive counts as one. */
async function activateAll(backend: BenchedBackend, entities: number): Promise<number> {
  const keys = { prefix: 'agent-', entities, stride: 1, checks: ['keepalive', ...CHECKS] };
  if (entities > 0) await putEvents(backend, { keys, ttl: TTL_S, until: 'each key once' });
  await delay(SETTLE_MS);
  return memoryOf(backend.pid).residentMb;
}

function measureEmpty(): Promise<StateStats> {
  return withSeededState(0, (stateDir) =>
    measureStart(stateDir, async (stats, backend) => ({ ...stats, activeMb: await activateAll(backend, 0) })),
  );
}

function measureSize(entities: number): Promise<Size> {
  return withSeededState(entities, (stateDir) =>
    measureStart(stateDir, async (stats, backend) => {
      const activeMb = await activateAll(backend, entities);
      const keys = {
        prefix: 'agent-',
        entities: WRITTEN_ENTITIES,
        stride: entities / WRITTEN_ENTITIES,
        checks: CHECKS,
      };
      const { perSecond, p99Ms } = await putEvents(backend, { keys, ttl: TTL_S });
      return { ...stats, activeMb, entities, putsPerSecond: perSecond, p99Ms };
    }),
  );
}

/** The costs that must not grow: one event in seconds, and one entity with its events, compared with an empty backend, in kB and µs. */
function costsOf(size: Size, empty: StateStats): Costs {
  return {
    G1: 1 / size.putsPerSecond,
    'G7 evicted': ((size.evictedMb - empty.evictedMb) * KB_PER_MB) / size.entities,
    'G7 active': ((size.activeMb - empty.activeMb) * KB_PER_MB) / size.entities,
    G8: ((size.readyMs - empty.readyMs) * 1_000) / size.entities,
  };
}

function line(size: Size, empty: StateStats): string[] {
  const costs = costsOf(size, empty);
  return [
    size.entities.toLocaleString('en'),
    `${Math.round(size.putsPerSecond).toLocaleString('en')} /s`,
    `${size.p99Ms.toFixed(1)} ms`,
    `${size.evictedMb.toFixed(0)} MB`,
    `${costs['G7 evicted'].toFixed(1)} kB`,
    `${size.activeMb.toFixed(0)} MB`,
    `${costs['G7 active'].toFixed(1)} kB`,
    `${(size.readyMs / 1_000).toFixed(2)} s`,
    `${costs.G8.toFixed(1)} µs`,
  ];
}

/** The ratio of each cost at the last size to that at the first. A first cost that noise made negative counts as growth. */
function growthResult(costs: readonly Costs[]): { text: string; holds: boolean } {
  const ends = COSTS.map((cost) => ({ cost, first: costs[0]?.[cost] ?? NaN, last: costs.at(-1)?.[cost] ?? NaN }));
  const factors = ends.map(({ cost, first, last }) => `${cost} ${(last / first).toFixed(2)}`).join(', ');
  const grown = ends.filter(({ first, last }) => !(first > 0 && last <= first * MAX_GROWTH)).map(({ cost }) => cost);
  const holds = grown.length === 0;
  const outcome = holds ? 'ok' : `GROWS: ${grown.join(', ')}`;
  return { text: `the last size to the first: ${factors}, at most ${MAX_GROWTH}: ${outcome}`, holds };
}

/** Measures how costs grow with the number of entities, each with a keepalive and two armed check TTLs. Sets the exit code above the limit. */
export async function growth(): Promise<string> {
  const empty = await measureEmpty();
  const header = ['entities', 'G1', 'p99', 'G7 evicted', 'per entity', 'G7 active', 'per entity', 'G8', 'per entity'];
  const sizes: Size[] = [];
  for (const entities of SIZES) sizes.push(await measureSize(entities));
  const { text, holds } = growthResult(sizes.map((size) => costsOf(size, empty)));
  if (!holds) process.exitCode = 1;
  return `${printTable([header, ...sizes.map((size) => line(size, empty))])}\n${text}`;
}
