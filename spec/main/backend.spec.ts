import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { initialiseState } from '../support/backend-process.ts';
import { inTime } from '../support/eventually.ts';
import { temporaryDirectory, type TemporaryDirectory } from '../support/temporary-directory.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/mon-backend.js', import.meta.url));
const LISTENERS = [
  '--api-listen-address=127.0.0.1:0',
  '--agent-host=127.0.0.1',
  '--agent-port=0',
  '--legacy-api-listen-address=',
  '--dashboard-port=0',
];
const END_WITHIN_MS = 15_000;
const STARTS = 3;

describe('mon-backend start', () => {
  let directory: TemporaryDirectory;
  beforeEach(async () => {
    directory = await temporaryDirectory();
  });
  afterEach(() => directory.remove());

  it('stops cleanly when SIGTERM arrives at the moment that it reports to be ready', async () => {
    const stateDir = join(directory.path, 'state');
    await initialiseState(stateDir);
    for (let start = 0; start < STARTS; start += 1) {
      const child = spawn(process.execPath, [PROGRAM, 'start', '--state-dir', stateDir, ...LISTENERS]);
      let lines = '';
      let isAsked = false;
      child.stderr.on('data', (chunk: Buffer) => {
        lines += chunk.toString();
        const isReady = lines.includes('ready to accept events');
        if (isReady && !isAsked) isAsked = child.kill('SIGTERM');
      });
      try {
        await inTime(once(child, 'close'), 'the end of mon-backend', END_WITHIN_MS);
      } finally {
        child.kill('SIGKILL');
      }
      expect({ code: child.exitCode, signal: child.signalCode }, lines).to.deep.equal({ code: 0, signal: null });
    }
  });
});
