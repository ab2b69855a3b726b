import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { READY, runCommand } from '../support/backend-command.ts';
import { initialiseState, runProgram } from '../support/backend-process.ts';
import { perTest } from '../support/fixture.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const LISTENERS = [
  '--api-listen-address=127.0.0.1:0',
  '--agent-host=127.0.0.1',
  '--agent-port=0',
  '--legacy-api-listen-address=',
  '--dashboard-port=0',
];

const NOBODY = 65_534;

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

  for (const command of [...NEED_A_STORE, ['upgrade'], ['restore', '/nowhere/file']]) {
    it(`names the directory of the store when --state-dir is a file, or below one: ${command.join(' ')}`, async () => {
      const file = join(directory.path, 'file');
      writeFileSync(file, '');
      for (const stateDir of [file, join(file, 'below')]) {
        const { code, stderr } = await runCommand([...command, '--state-dir', stateDir]);
        const { error } = JSON.parse(stderr) as { error: string };
        expect([code, error]).to.deep.equal([
          1,
          `a part of the path ${stateDir}/store is a file; set --state-dir to the state directory of the backend`,
        ]);
      }
    });
  }

  it('names the directory of the store for restore when that is a file', async () => {
    writeFileSync(join(directory.path, 'store'), '');
    const { stderr } = await runCommand(['restore', '/nowhere/file', '--state-dir', directory.path]);
    expect((JSON.parse(stderr) as { error: string }).error).to.include(`path ${directory.path}/store is a file`);
  });

  /** Runs a command as a user who may not enter the state directory. */
  async function asOtherUser(args: readonly string[]): Promise<Awaited<ReturnType<typeof runCommand>>> {
    const stateDir = nowhere();
    await initialiseState(stateDir);
    const isRoot = process.geteuid?.() === 0;
    chmodSync(stateDir, isRoot ? 0o700 : 0);
    if (isRoot) process.seteuid?.(NOBODY);
    try {
      return await runCommand([...args, '--state-dir', stateDir]);
    } finally {
      if (isRoot) process.seteuid?.(0);
      chmodSync(stateDir, 0o700);
    }
  }

  const OF_THE_OWNER: readonly (readonly [string[], string])[] = [
    [['backup'], 'read'],
    [['check-store'], 'read'],
    [['ledger', 'verify'], 'read'],
    [['ledger', 'export', '/nowhere/file'], 'read'],
    [['upgrade'], 'read'],
    [['restore', '/nowhere/file'], 'use'],
  ];
  for (const [command, verb] of OF_THE_OWNER) {
    it(`says that another user owns the state directory: ${command.join(' ')}`, async () => {
      const { code, stderr } = await asOtherUser(command);
      expect(code).to.equal(1);
      expect(stderr).to.match(
        new RegExp(`cannot ${verb} ${nowhere()}/store\\S*: permission denied; run this command as the owner`),
      );
      expect(stderr).to.not.include('"stack"');
    });
  }

  it('is an error of restore when the state directory cannot be created', async () => {
    const args = ['restore', '/nowhere/file', '--state-dir', '/proc/mon'];
    const { code, stderr } = await runProgram(args, { withinMs: 20_000 });
    expect([code, stderr.includes('/proc/mon')]).to.deep.equal([1, true]);
  });

  it('is an error of backup when its directory cannot be created', async () => {
    await initialiseState(nowhere());
    const args = ['backup', '--state-dir', nowhere(), '--backup-dir', '/proc/mon/backups'];
    const { code, stderr } = await runProgram(args, { withinMs: 20_000 });
    expect([code, stderr.includes('/proc/mon')]).to.deep.equal([1, true]);
  });

  it('names the directory of a backup that does not exist, and creates none', async () => {
    await initialiseState(nowhere());
    const typo = join(directory.path, 'typo');
    const { code, stderr } = await runCommand(['backup', join(typo, 'x.mdb'), '--state-dir', nowhere()]);
    expect(code).to.equal(5);
    expect(stderr).to.include(`there is no directory ${typo}; create it first`);
    expect(readdirSync(directory.path)).to.deep.equal(['nowhere']);
  });

  it('names a wrong manifest once', async () => {
    const backup = join(directory.path, 'x.mdb');
    await initialiseState(nowhere());
    await runCommand(['backup', backup, '--state-dir', nowhere()]);
    writeFileSync(`${backup}.manifest.json`, '{}');
    const { stderr } = await runCommand(['restore', backup, '--state-dir', join(directory.path, 'new')]);
    const { error } = JSON.parse(stderr) as { error: string };
    expect(error).to.equal(`${backup}.manifest.json is not the manifest of a backup`);
  });

  it('has no stack when the file of a backup exists', async () => {
    await initialiseState(nowhere());
    const { code, stderr } = await runCommand(['backup', directory.path, '--state-dir', nowhere()]);
    expect(code).to.equal(1);
    expect(stderr).to.include('already exists; choose another path').and.not.include('"stack"');
  });

  it('names the end of the ledger when an export is to begin after it, and creates no file', async () => {
    await initialiseState(nowhere());
    const path = join(directory.path, 'ledger.jsonl');
    const exportAfter = (seq: number | string) =>
      runCommand(['ledger', 'export', path, '--after', String(seq), '--state-dir', nowhere()]);
    const { code, stderr } = await exportAfter(99_999);
    expect(code).to.equal(1);
    expect(stderr)
      .to.match(/the ledger ends at entry \d+, before entry 99999 of --after/)
      .and.not.include('"stack"');
    expect(readdirSync(directory.path)).to.deep.equal(['nowhere']);
    const [, end = ''] = /ends at entry (\d+)/.exec(stderr) ?? [];
    expect(await exportAfter(end)).to.include({ code: 0, stdout: `exported: ${path}\nno entries\n` });
  });

  it('names an empty file or a directory that is to be verified as an export', async () => {
    const empty = join(directory.path, 'empty.jsonl');
    writeFileSync(empty, '');
    for (const [path, rule] of [
      [empty, 'is empty: it has no entries to verify'],
      [directory.path, 'is a directory, not an export of the ledger'],
    ] as const) {
      const { code, stdout, stderr } = await runCommand(['ledger', 'verify', '--file', path]);
      expect([code, stdout]).to.deep.equal([1, '']);
      expect(stderr).to.include(`${path} ${rule}`).and.not.include('"stack"');
    }
  });

  it('is refused by version and help, too', async () => {
    for (const command of ['version', 'help']) {
      const { code, stdout, stderr } = await runCommand([command, '--bad']);
      expect([code, stdout]).to.deep.equal([1, '']);
      expect(stderr).to.include('unknown flag: --bad');
      expect((await runCommand([command, '--help'])).stdout).to.match(/^Usage: mon-backend/);
    }
  });

  for (const command of ['version extra', '--version extra', 'help version extra', 'help ledger verify extra']) {
    it(`is refused where an argument is surplus: ${command}`, async () => {
      const { code, stdout, stderr } = await runCommand(command.split(' '));
      expect([code, stdout]).to.deep.equal([1, '']);
      expect(stderr).to.include('unexpected argument \\"extra\\"');
    });
  }

  it('is none where version gets the name of the configuration file', async () => {
    for (const file of [['-c', '/nowhere/file'], ['--config-file', '/nowhere/file'], ['--config-file=/nowhere/file']]) {
      const { code, stdout } = await runCommand(['version', ...file]);
      expect([code, stdout.split(' ')[1]]).to.deep.equal([0, 'version']);
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
