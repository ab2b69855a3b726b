import { perTest } from '../../support/fixture.ts';
import { playCommands, recordedMachine } from '../../support/golden-cli.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';

const RECORDINGS = [
  '01-configure',
  '02-checks',
  '03-events-entities',
  '04-handlers-filters-etc',
  '05-silenced',
  '06-rbac-users',
  '07-create-delete-dump',
  '08-cluster-tessen',
];

describe('the recorded command-line client', () => {
  const backend = perTest(() => InProcessBackend.start({ machine: recordedMachine() }));

  for (const name of RECORDINGS) {
    it(`receives the recorded answers: ${name}`, () =>
      playCommands(`cli/${name}.json`, {
        port: backend.apiPort,
        nowMs: () => backend.clock.nowMs(),
        wait: (ms) => backend.clock.advance(ms),
      }));
  }
});
