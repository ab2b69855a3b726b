import { setTimeout as delay } from 'node:timers/promises';
import type { BenchedBackend } from './benched-backend.ts';
import { printTable } from './measured.ts';
import { memoryOf } from './process-facts.ts';
import { putEvents } from './rest-put.ts';
import { CHECKS_PER_ENTITY, measureStart, SETTLE_MS, type StartFigures, withSeededState } from './stored-state.ts';

/** The word that asks for the second table. */
export const GROWTH = 'growth';

const SIZES = [1_000, 10_000, 50_000, 100_000];
/** Nothing may expire while a slow machine gives each key its input. */
const TTL_S = 3_600;
const CHECKS = Array.from({ length: CHECKS_PER_ENTITY }, (_, index) => `check-${index}`);
/** G1 writes the same number of keys, however many there are: only what exists grows. */
const WRITTEN_ENTITIES = 1_000;
const KB_PER_MB = 1_024;

interface StateFigures extends StartFigures {
  /** When each key has had an input. */
  awakeMb: number;
}

interface Size extends StateFigures {
  entities: number;
  putsPerSecond: number;
  p99Ms: number;
}

/** An input for each key of the state; a PUT of an agent's keepalive counts as one. */
async function wakeAll(backend: BenchedBackend, entities: number): Promise<number> {
  const keys = { prefix: 'agent-', entities, stride: 1, checks: ['keepalive', ...CHECKS] };
  if (entities > 0) await putEvents(backend, { keys, ttl: TTL_S, until: 'each key once' });
  await delay(SETTLE_MS);
  return memoryOf(backend.pid).residentMb;
}

function measureEmpty(): Promise<StateFigures> {
  return withSeededState(0, (stateDir) =>
    measureStart(stateDir, async (figures, backend) => ({ ...figures, awakeMb: await wakeAll(backend, 0) })),
  );
}

function measureSize(entities: number): Promise<Size> {
  return withSeededState(entities, (stateDir) =>
    measureStart(stateDir, async (figures, backend) => {
      const awakeMb = await wakeAll(backend, entities);
      const keys = {
        prefix: 'agent-',
        entities: WRITTEN_ENTITIES,
        stride: entities / WRITTEN_ENTITIES,
        checks: CHECKS,
      };
      const { perSecond, p99Ms } = await putEvents(backend, { keys, ttl: TTL_S });
      return { ...figures, awakeMb, entities, putsPerSecond: perSecond, p99Ms };
    }),
  );
}

/** What one entity with its events adds to an empty backend. */
function line(size: Size, empty: StateFigures): string[] {
  const perEntity = (more: number, factor: number, unit: string): string =>
    `${((more * factor) / size.entities).toFixed(1)} ${unit}`;
  return [
    size.entities.toLocaleString('en'),
    `${Math.round(size.putsPerSecond).toLocaleString('en')} /s`,
    `${size.p99Ms.toFixed(1)} ms`,
    `${size.asleepMb.toFixed(0)} MB`,
    perEntity(size.asleepMb - empty.asleepMb, KB_PER_MB, 'kB'),
    `${size.awakeMb.toFixed(0)} MB`,
    perEntity(size.awakeMb - empty.awakeMb, KB_PER_MB, 'kB'),
    `${(size.readyMs / 1_000).toFixed(2)} s`,
    perEntity(size.readyMs - empty.readyMs, 1_000, 'µs'),
  ];
}

/** How cost grows with the entities that exist, each with a keepalive and two armed switches. */
export async function growth(): Promise<string> {
  const empty = await measureEmpty();
  const header = ['entities', 'G1', 'p99', 'G7 asleep', 'per entity', 'G7 awake', 'per entity', 'G8', 'per entity'];
  const lines: string[][] = [];
  for (const entities of SIZES) lines.push(line(await measureSize(entities), empty));
  return printTable([header, ...lines]);
}
