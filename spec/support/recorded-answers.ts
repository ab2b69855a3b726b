import { playExchanges, type Selection } from './golden-exchanges.ts';
import { InProcessBackend } from './in-process-backend.ts';

/** A test for each recording, with the steps of it that are to be played; each on a fresh backend. */
export function itAnswersAsRecorded(recordings: readonly (readonly [name: string, selected: Selection])[]): void {
  let backend: InProcessBackend;
  beforeEach(async () => {
    backend = await InProcessBackend.start();
  });
  afterEach(() => backend.stop());

  for (const [name, selected] of recordings) {
    it(`is answered: ${name}`, () => {
      const sleep = (ms: number): Promise<void> => backend.clock.advance(ms);
      return playExchanges(`${name}.json`, backend.apiPort, selected, sleep);
    });
  }
}
