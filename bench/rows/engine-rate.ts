import type { Row } from '../support/measured.ts';
import type { RawMachineLoad } from '../workers/raw-machine.ts';
import type { EngineLoad, EngineRates } from '../workers/state-engine.ts';
import { runWorker } from '../support/workers.ts';

const LOAD: EngineLoad = { keys: 10_000, seconds: 5 };

/** G4: decisions of the state engine alone, and the cost of inspecting one actor. */
export async function engineRate(): Promise<Row[]> {
  const rawLimit = await runWorker<number>('raw-machine', { actors: LOAD.keys } satisfies RawMachineLoad);
  const { unwatched, watchedShare } = await runWorker<EngineRates>('state-engine', LOAD);
  return [
    {
      id: 'G4',
      what: 'state engine alone, one core; limit: 10,000 bare XState actors',
      unit: '/s',
      value: unwatched,
      rawLimit,
      floor: 100_000,
    },
    {
      id: 'G4',
      what: 'the same with one actor watched; limit: with none',
      unit: '%',
      value: watchedShare * 100,
      rawLimit: 100,
      floor: 95,
      isFixed: true,
    },
  ];
}
