import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { LAST_UPGRADE_KEY, STORE_VERSION, STORE_VERSION_KEY } from '../../../src/store/lmdb/store-version.ts';
import { lockStore } from '../../../src/store/lmdb/store-lock.ts';
import { openEnvironment, textTable } from '../../../src/store/lmdb/lmdb-environment.ts';
import { RawStore } from '../../../src/store/lmdb/raw-store.ts';
import { FIXTURES, type StoredFixture, unpackFixture } from '../../store/stored-fixtures.ts';
import { recordsOf } from '../../store/stored-records.ts';
import { ADMIN } from '../../support/api-client.ts';
import { runCommand } from '../../support/backend-command.ts';
import { BackendProcess, initialiseState, runProgram } from '../../support/backend-process.ts';
import { eventually, inTime } from '../../support/eventually.ts';
import { perTest } from '../../support/fixture.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const PROGRAM = fileURLToPath(new URL('../../../bin/mon-backend.js', import.meta.url));
const QUESTION = 'Upgrade the store? [y/N] ';
const BY_OPERATOR = 'upgrade aborted by operator';
const [FIXTURE] = FIXTURES as [StoredFixture];
const UPGRADED = new RegExp(
  `^upgraded database from schema ${FIXTURE.version} to ${STORE_VERSION} \\(backup: (.*/backups/pre-.*\\.mdb)\\)\n$`,
);

describe('mon-backend upgrade', function () {
  this.timeout(60_000);
  const directory = perTest(temporaryDirectory, (made) => made.remove());
  let stateDir: string;
  let store: string;

  beforeEach(() => {
    stateDir = join(directory.path, 'state');
    store = join(stateDir, 'store');
  });

  const commandLine = (...args: string[]): string[] => ['upgrade', '--state-dir', stateDir, ...args];
  const upgrade = (...args: string[]) => runCommand(commandLine(...args));

  /** Each answer is given when the question has been asked so many times. */
  async function onTerminal(answers: readonly string[]) {
    const command = [process.execPath, PROGRAM, 'upgrade', '--state-dir', stateDir].join(' ');
    const args = ['-qec', command, '/dev/null'];
    const child = spawn('script', args, { stdio: ['pipe', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const ended = once(child, 'close');
    try {
      for (const [index, answer] of answers.entries()) {
        await eventually(() => output.split(QUESTION).length > index + 1, Boolean, {
          what: QUESTION,
          withinMs: 15_000,
        });
        child.stdin.write(`${answer}\n`);
      }
      await ended;
    } finally {
      child.kill('SIGKILL');
    }
    return { code: child.exitCode, output };
  }

  describe('on a store of an older version', () => {
    let bytes: Buffer;

    beforeEach(() => {
      unpackFixture(FIXTURE, store);
      bytes = readFileSync(join(store, 'data.mdb'));
    });

    const expectUnchanged = () => {
      expect(readFileSync(join(store, 'data.mdb')).equals(bytes)).to.equal(true);
      expect(readdirSync(stateDir)).to.not.include('backups');
    };

    it('upgrades it with --skip-confirm, after a backup that equals the old store', async () => {
      const before = await recordsOf(store);
      const { code, stdout, stderr } = await upgrade('--skip-confirm');
      expect(code, stderr).to.equal(0);
      const [, backup = ''] = UPGRADED.exec(stdout) ?? [];
      expect(await recordsOf(backup)).to.deep.equal(before);
      const verified = await runCommand(['ledger', 'verify', '--state-dir', stateDir]);
      expect(verified).to.have.property('code', 0);
      expect(verified.stdout).to.match(/^ledger ok: /);
    });

    it('prints the steps with --dry-run, and changes nothing', async () => {
      const { code, stdout, stderr } = await upgrade('--dry-run');
      expect(code, stderr).to.equal(0);
      const [first = '', ...steps] = stdout.trim().split('\n');
      expect(first).to.include(`upgrade database from schema ${FIXTURE.version} to ${STORE_VERSION}`);
      expect(steps).to.have.length(STORE_VERSION - FIXTURE.version);
      expectUnchanged();
    });

    it('halts with exit code 5 with --dry-run when a check has no namespace, as the upgrade would', async () => {
      const root = openEnvironment({ directory: store, sync: 'full' });
      await textTable(root, 'resources').put('checks/ghost/cpu', Buffer.alloc(0));
      await root.close();
      const { code, stderr } = await upgrade('--dry-run');
      expect(code).to.equal(5);
      expect(stderr).to.include('ghost/cpu').and.include('--create-missing-namespaces');
    });

    it('says the second time that it was already run, and changes nothing', async () => {
      await upgrade('--skip-confirm');
      const before = await recordsOf(store);
      const { code, stdout, stderr } = await upgrade('--skip-confirm');
      expect(code).to.equal(0);
      expect(stdout).to.match(new RegExp(`^upgrade was already run: schema ${STORE_VERSION}, version \\S+\n$`));
      expect(stderr).to.contain('database already up to date');
      expect(await recordsOf(store)).to.deep.equal(before);
      expect(readdirSync(join(stateDir, 'backups'))).to.have.length(1);
    });

    it('is not needed before ledger verify', async () => {
      const { code, stdout } = await runCommand(['ledger', 'verify', '--state-dir', stateDir]);
      expect(code).to.equal(0);
      expect(stdout).to.match(/^ledger ok: \d+ entries/);
      expectUnchanged();
    });

    it('is needed before start and init, which name it and change nothing', async () => {
      const credentials = ['--cluster-admin-username', ADMIN.username, '--cluster-admin-password', ADMIN.password];
      for (const command of [['start'], ['init', ...credentials]]) {
        const { code, stderr } = await runCommand([...command, '--state-dir', stateDir]);
        expect([command[0], code]).to.deep.equal([command[0], 5]);
        expect(stderr).to.contain(
          `the store has version ${FIXTURE.version}, this program needs version ${STORE_VERSION}`,
        );
        expect(stderr).to.contain('mon-backend upgrade');
      }
      expectUnchanged();
    });

    it('wants --skip-confirm without a terminal', async () => {
      const { code, stdout, stderr } = await upgrade();
      expect([code, stdout]).to.deep.equal([1, '']);
      expect(stderr).to.contain('confirmation required, use --skip-confirm');
      expectUnchanged();
    });

    it('ends when the answer is no', async () => {
      const { code, output } = await onTerminal(['n']);
      expect(code).to.equal(1);
      expect(output).to.contain(`The store in ${store} has version ${FIXTURE.version}`).and.contain(BY_OPERATOR);
      expectUnchanged();
    });

    it('upgrades when the answer is yes', async () => {
      const { code, output } = await onTerminal(['what', 'y']);
      expect(code).to.equal(0);
      expect(output).to.contain(`upgraded database from schema ${FIXTURE.version} to ${STORE_VERSION}`);
    });

    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      it(`ends at ${signal} while it waits for the answer`, async () => {
        // The process takes a pipe for a terminal, so that the signal reaches it and no program in between.
        const terminal = 'data:text/javascript,process.stdin.isTTY=true;process.stdin.setRawMode=()=>{}';
        const args = ['--import', terminal, PROGRAM, 'upgrade', '--state-dir', stateDir];
        const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'ignore'] });
        const ended = once(child, 'close');
        try {
          let output = '';
          child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
          await eventually(() => output.includes(QUESTION), Boolean, { what: QUESTION, withinMs: 15_000 });
          child.kill(signal);
          await inTime(ended, `the end after ${signal}`, 10_000);
          expect(child.signalCode).to.equal(signal);
          expectUnchanged();
        } finally {
          child.kill('SIGKILL');
        }
      });
    }

    it('counts the damaged records that it leaves as they are', async () => {
      const raw = openEnvironment({ directory: store, sync: 'full' });
      const table = textTable(raw, 'events');
      const keys = [...table.getKeys({ limit: 2 })];
      expect(keys).to.have.length(2);
      for (const key of keys) table.putSync(key, Buffer.from('damaged'));
      await raw.close();
      const { code, stdout } = await upgrade('--skip-confirm');
      expect(code).to.equal(0);
      expect(stdout.split('\n')[1]).to.equal(
        '2 damaged records were left as they are, the next start sets them aside; see the log',
      );
    });

    it('names the data file and exits with code 5 when it is not a database', async () => {
      const file = join(store, 'data.mdb');
      writeFileSync(file, randomBytes(8_192));
      const { code, stderr } = await upgrade('--skip-confirm');
      expect(code).to.equal(5);
      expect(stderr).to.contain(`the store is damaged: ${file}`).and.contain('is not a database');
      const verified = await runCommand(['ledger', 'verify', '--state-dir', stateDir]);
      expect(verified.code).to.equal(5);
      expect(verified.stderr).to.contain(`${file} is not a database`);
    });

    it('names the data file and exits with code 5 when its end is missing', async () => {
      const file = join(store, 'data.mdb');
      truncateSync(file, 60_000);
      const { code, stderr } = await upgrade('--skip-confirm');
      expect(code).to.equal(5);
      expect(stderr)
        .to.contain(`the store is damaged: ${file}`)
        .and.match(/page \d+/);
    });

    it('gives up after --timeout while another process uses the store', async () => {
      const lock = lockStore(store);
      try {
        const { code, stderr } = await runProgram(commandLine('--skip-confirm', '--timeout', '300ms'));
        expect(code).to.equal(1);
        expect(stderr).to.contain(`store is in use by process ${process.pid} (--state-dir ${stateDir}); stop it`);
        expectUnchanged();
      } finally {
        lock.release();
      }
    });

    it('runs once when two are started at a time', async () => {
      const started = () => runProgram(commandLine('--skip-confirm'));
      const runs = await Promise.all([started(), started()]);
      expect(runs.map(({ code }) => code)).to.deep.equal([0, 0]);
      const outputs = runs.map(({ stdout }) => stdout);
      expect(outputs.filter((text) => UPGRADED.test(text))).to.have.length(1);
      expect(outputs.filter((text) => text.startsWith('upgrade was already run: '))).to.have.length(1);
    });

    it('halts with exit code 5 and changes nothing when the backup cannot be made', async () => {
      writeFileSync(join(stateDir, 'backups'), 'a file');
      const { code, stderr } = await upgrade('--skip-confirm');
      expect(code).to.equal(5);
      expect(stderr).to.contain('could not be made');
      expect(readFileSync(join(store, 'data.mdb')).equals(bytes)).to.equal(true);
    });

    it('is followed by a start', async () => {
      await upgrade('--skip-confirm');
      const backend = await BackendProcess.start({ stateDir, environment: { MON_SPEC_HANDLER: 'true' } });
      try {
        const api = await backend.login();
        expect(await api.event('web', 'disk')).to.not.equal(undefined);
      } finally {
        await backend.stop();
      }
    });
  });

  it('says that nothing was upgraded on a fresh store, without a question', async () => {
    await initialiseState(stateDir);
    const { code, stdout } = await upgrade();
    expect(code).to.equal(0);
    expect(stdout).to.match(/^nothing was upgraded: version \S+ has no datastore changes\n$/);
    expect(readdirSync(stateDir)).to.not.include('backups');
    expect((await upgrade()).stdout).to.contain('upgrade was already run');
  });

  it('says so beside a running backend too', async () => {
    await initialiseState(stateDir);
    const backend = await BackendProcess.start({ stateDir });
    try {
      const { code, stdout } = await upgrade('--skip-confirm');
      expect([code, stdout.slice(0, 20)]).to.deep.equal([0, 'nothing was upgraded']);
    } finally {
      await backend.stop();
    }
  });

  it('fails where there is no store', async () => {
    const { code, stderr } = await upgrade('--skip-confirm');
    expect(code).to.equal(1);
    expect(stderr).to.contain('store is not initialized');
    expect(readdirSync(directory.path)).to.deep.equal([]);
  });

  it('reports why it cannot reach the store', async () => {
    mkdirSync(stateDir);
    symlinkSync(store, store);
    const { code, stderr } = await upgrade('--skip-confirm');
    expect(code).to.equal(1);
    expect(stderr).to.contain('ELOOP').and.contain(store).and.not.contain('store is not initialized');
  });

  it('F25: refuses a store that a newer version wrote, with exit code 4 and a way on', async () => {
    mkdirSync(store, { recursive: true });
    const raw = new RawStore({ directory: store, sync: 'full' });
    raw.write([], { [STORE_VERSION_KEY]: STORE_VERSION + 1, [LAST_UPGRADE_KEY]: null });
    await raw.close();
    const bytes = readFileSync(join(store, 'data.mdb'));
    const { code, stderr } = await upgrade('--skip-confirm');
    expect(code).to.equal(4);
    expect(stderr).to.contain(`the store has version ${STORE_VERSION + 1}`);
    expect(stderr).to.contain('downgrade is not possible; install that version, or restore a backup');
    expect(readFileSync(join(store, 'data.mdb')).equals(bytes)).to.equal(true);
  });
});
