import type { Row } from './measured.ts';
import type { EngineLoad } from './state-engine.ts';
import { runWorker } from './workers.ts';

const LOAD: EngineLoad = { keys: 10_000, seconds: 5 };

/** G4: decisions of the state engine alone. */
export async function engineRate(): Promise<Row[]> {
  const rawLimit = await runWorker<number>('./raw-machine.ts', {});
  const figure = await runWorker<number>('./state-engine.ts', LOAD);
  const what = 'state engine alone, one core; limit: one XState actor';
  return [{ id: 'G4', what, unit: '/s', figure, rawLimit, floor: 100_000 }];
}
