import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { initialiseState, type ProgramRun, runProgram } from '../../support/backend-process.ts';
import { perTest } from '../../support/fixture.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/**
 * Runs a command where `disk` is a file system without any space, on which there is a copy of the store without its table of readers,
 * as after a restore from a copy of the disk.
 */
const ON_FULL_DISK = (stateDir: string, disk: string, prepare = 'true'): string[] => [
  'unshare',
  '--user',
  '--map-root-user',
  '--mount',
  'sh',
  '-c',
  `mount -t tmpfs -o size=1m,mode=700 tmpfs '${disk}' && mkdir '${disk}/store' && cp '${stateDir}/store/data.mdb' '${disk}/store' && ${prepare} &&
   { dd if=/dev/zero of='${disk}/others' bs=4k 2> /dev/null || true; } && exec "$0" "$@"`,
];
const LISTENERS = [
  '--api-listen-address=127.0.0.1:0',
  '--agent-host=127.0.0.1',
  '--agent-port=0',
  '--legacy-api-listen-address=',
  '--dashboard-port=0',
  '--disable-platform-metrics',
];

describe('F13: a store without its table of readers on a disk without any space', function () {
  this.timeout(60_000);
  const directory = perTest(temporaryDirectory, (made) => made.remove());

  const COMMANDS: readonly string[][] = [
    ['start', ...LISTENERS],
    ['backup', '/nowhere/copy.mdb'],
    ['check-store'],
    ['upgrade'],
    ['ledger', 'verify'],
    ['ledger', 'export', '/nowhere/ledger.jsonl'],
  ];
  const run = async (command: readonly string[], prepare?: (disk: string) => string): Promise<ProgramRun> => {
    const [stateDir, disk] = [join(directory.path, 'state'), join(directory.path, 'disk')];
    await initialiseState(stateDir);
    mkdirSync(disk);
    const prefix = ON_FULL_DISK(stateDir, disk, prepare?.(disk));
    return runProgram([...command, '--state-dir', disk], { withinMs: 20_000, prefix });
  };

  function expectReason({ code, stderr }: ProgramRun): void {
    expect(code, stderr).to.equal(1);
    expect(stderr).to.include('the disk has no space for').and.include('store/lock.mdb');
    expect(stderr).to.not.include('damaged');
  }

  for (const command of COMMANDS) {
    it(`is not taken for a damaged one, and the message names the disk: ${command.slice(0, 2).join(' ')}`, async () => {
      expectReason(await run(command));
    });
  }

  it('is not taken for a damaged one when a program that crashed has left a table without pages', async () => {
    expectReason(await run(['check-store'], (disk) => `truncate -s 8272 '${disk}/store/lock.mdb'`));
  });
});
