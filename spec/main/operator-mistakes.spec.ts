import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { READY, runCommand } from '../support/backend-command.ts';
import { initialiseState } from '../support/backend-process.ts';
import { perTest } from '../support/fixture.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const LISTENERS = [
  '--api-listen-address=127.0.0.1:0',
  '--agent-host=127.0.0.1',
  '--agent-port=0',
  '--legacy-api-listen-address=',
  '--dashboard-port=0',
];

describe('a mistake on the command line of mon-backend', () => {
  const directory = perTest(temporaryDirectory, (made) => made.remove());
  const nowhere = (): string => join(directory.path, 'nowhere');

  const NEED_A_STORE = [['backup'], ['check-store'], ['ledger', 'verify'], ['ledger', 'export', '/nowhere/file']];
  for (const command of NEED_A_STORE) {
    it(`names --state-dir where there is no store, has no stack, and creates nothing: ${command.join(' ')}`, async () => {
      const { code, stderr } = await runCommand([...command, '--state-dir', nowhere()]);
      expect(code).to.equal(1);
      expect(stderr).to.include(`there is no store in ${nowhere()}/store; --state-dir names`);
      expect(stderr).to.not.include('"stack"');
      expect(readdirSync(directory.path)).to.deep.equal([]);
    });
  }

  it('has no stack when the file of a backup exists', async () => {
    await initialiseState(nowhere());
    const { code, stderr } = await runCommand(['backup', directory.path, '--state-dir', nowhere()]);
    expect(code).to.equal(1);
    expect(stderr).to.include('already exists; choose another path').and.not.include('"stack"');
  });

  it('is refused by version and help, too', async () => {
    for (const command of ['version', 'help']) {
      const { code, stdout, stderr } = await runCommand([command, '--bad']);
      expect([code, stdout]).to.deep.equal([1, '']);
      expect(stderr).to.include('unknown flag: --bad');
      expect((await runCommand([command, '--help'])).stdout).to.match(/^Usage: mon-backend/);
    }
  });

  it('gets the names of the commands of the ledger', async () => {
    const { code, stderr } = await runCommand(['ledger', 'check']);
    expect(code).to.equal(1);
    expect(stderr).to.include('did you mean ledger export or ledger verify?');
  });

  it('is none where ledger alone asks for the commands', async () => {
    for (const command of [['ledger'], ['ledger', '--help'], ['ledger', '-h'], ['help', 'ledger']]) {
      const { code, stdout, stderr } = await runCommand(command);
      expect([code, stderr], command.join(' ')).to.deep.equal([0, '']);
      expect(stdout).to.match(/^Usage: mon-backend <command>/);
    }
  });

  it('is refused where help names a command that does not exist', async () => {
    const { code, stdout, stderr } = await runCommand(['help', 'strat']);
    expect([code, stdout]).to.deep.equal([1, '']);
    expect(stderr).to.include('unknown command \\"strat\\" for \\"mon-backend\\" (did you mean start?)');
  });

  it('is named once when the metrics log cannot be opened', async () => {
    const stateDir = nowhere();
    const metricsLog = join(directory.path, 'missing/stats.log');
    mkdirSync(stateDir);
    const args = ['start', '--state-dir', stateDir, '--cache-dir', directory.path, ...LISTENERS];
    const { stderr } = await runCommand([...args, '--platform-metrics-log-file', metricsLog], { until: READY });
    const line = stderr.split('\n').find((text) => text.includes('metrics log cannot be opened')) ?? '{}';
    const { error, stack } = JSON.parse(line) as { error?: string; stack?: string };
    expect(error?.split('ENOENT')).to.have.length(2);
    expect(stack).to.equal(undefined);
  });
});
