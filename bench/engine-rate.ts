import type { Row } from './measured.ts';
import type { EngineLoad, EngineRates } from './state-engine.ts';
import { runWorker } from './workers.ts';

const LOAD: EngineLoad = { keys: 10_000, seconds: 5 };

/** G4: decisions of the state engine alone, and what it costs to watch one actor. */
export async function engineRate(): Promise<Row[]> {
  const rawLimit = await runWorker<number>('./raw-machine.ts', {});
  const { unwatched, watched } = await runWorker<EngineRates>('./state-engine.ts', LOAD);
  return [
    {
      id: 'G4',
      what: 'state engine alone, one core; limit: one XState actor',
      unit: '/s',
      figure: unwatched,
      rawLimit,
      floor: 100_000,
    },
    {
      id: 'G4',
      what: 'state engine with one actor watched; limit: with none',
      unit: '/s',
      figure: watched,
      rawLimit: unwatched,
      floor: 95_000,
    },
  ];
}
