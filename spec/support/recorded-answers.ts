import { perTest } from './fixture.ts';
import { playExchanges } from './golden-exchanges.ts';
import { InProcessBackend } from './in-process-backend.ts';

/** Declares a test for each recording, which replays it on a new backend. */
export function itAnswersAsRecorded(recordings: readonly string[]): void {
  const backend = perTest(() => InProcessBackend.start());

  for (const name of recordings) {
    it(`answers as recorded in ${name}`, () => {
      const wait = (ms: number): Promise<void> => backend.clock.advance(ms);
      return playExchanges(`${name}.json`, backend.apiPort, wait);
    });
  }
}
