import { perTest } from './fixture.ts';
import { playExchanges } from './golden-exchanges.ts';
import { InProcessBackend } from './in-process-backend.ts';

/** A test for each recording, from its first step to its last; each on a fresh backend. */
export function itAnswersAsRecorded(recordings: readonly string[]): void {
  const backend = perTest(() => InProcessBackend.start());

  for (const name of recordings) {
    it(`is answered: ${name}`, () => {
      const sleep = (ms: number): Promise<void> => backend.clock.advance(ms);
      return playExchanges(`${name}.json`, backend.apiPort, sleep);
    });
  }
}
