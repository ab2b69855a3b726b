import type { Row } from './measured.ts';
import type { EngineLoad, EngineRates } from './state-engine.ts';
import { runWorker } from './workers.ts';

const LOAD: EngineLoad = { keys: 10_000, seconds: 5 };

/** G4: decisions of the state engine alone, and what it costs to watch one actor. */
export async function engineRate(): Promise<Row[]> {
  const rawLimit = await runWorker<number>('./raw-machine.ts', {});
  const { unwatched, watchedShare } = await runWorker<EngineRates>('./state-engine.ts', LOAD);
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
      what: 'the same with one actor watched; limit: with none',
      unit: '%',
      figure: watchedShare * 100,
      rawLimit: 100,
      floor: 95,
      isFixed: true,
    },
  ];
}
