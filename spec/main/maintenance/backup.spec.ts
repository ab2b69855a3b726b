import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { eventKey } from '../../../src/store/encoding/keyspace.ts';
import { LmdbStore } from '../../../src/store/lmdb/lmdb-store.ts';
import { eventOf } from '../../../src/store/records/records.ts';
import { STORE_VERSION_KEY } from '../../../src/store/lmdb/store-version.ts';
import { openEnvironment, textTable } from '../../../src/store/lmdb/lmdb-environment.ts';
import { sealText } from '../../../src/store/encoding/sealed.ts';
import { HttpSender, numberIn } from '../../crash/load.ts';
import { recordsOf } from '../../store/stored-records.ts';
import { ApiClient } from '../../support/api-client.ts';
import { runCommand } from '../../support/backend-command.ts';
import { BackendProcess, initialiseState } from '../../support/backend-process.ts';
import { eventually } from '../../support/eventually.ts';
import { proxyEvent } from '../../support/example-events.ts';
import { perTest } from '../../support/fixture.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const PROGRAM = fileURLToPath(new URL('../../../bin/mon-backend.js', import.meta.url));
const LOADED_EVENTS = 200;
const RESTORED_WITHIN_MS = 60_000;
const SENDERS = 4;
const MAX_BACKUPS = 20;
/** Records of these tables say when the process lived, so that they change without a request. */
const OF_THE_PROCESS = new Set(['meta', 'ledger', 'ledgerByKey', 'ledgerByActor', 'ticks', 'events', 'entities']);

describe('mon-backend backup and restore', function () {
  this.timeout(120_000);
  const directory = perTest(temporaryDirectory, (made) => made.remove());
  let stateDir: string;
  let other: string;
  let path: string;
  let backend: BackendProcess | undefined;

  beforeEach(async () => {
    stateDir = join(directory.path, 'state');
    other = join(directory.path, 'other');
    path = join(directory.path, 'copy.mdb');
    await initialiseState(stateDir);
  });

  afterEach(async () => {
    await backend?.kill();
    await backend?.remove();
    backend = undefined;
  });

  const backup = (...args: string[]) =>
    runCommand(['backup', path, '--state-dir', stateDir, ...args], { withinMs: 60_000 });
  const restore = (...args: string[]) =>
    runCommand(['restore', path, '--state-dir', other, ...args], { withinMs: 60_000 });
  const succeeds = async (run: () => ReturnType<typeof runCommand>): Promise<void> => {
    const { code, stderr } = await run();
    expect(code, stderr).to.equal(0);
  };
  const verify = (state: string) => runCommand(['ledger', 'verify', '--state-dir', state], { withinMs: 60_000 });
  const manifest = (): string => `${path}.manifest.json`;

  /** What a backup must bring back: users, keys, silences, configuration, events, and the ledger of all that. */
  async function fill(api: ApiClient): Promise<string> {
    const password = 'An0ther-P@ss';
    await api.put('/api/core/v2/users/ann', { username: 'ann', password, groups: ['cluster-admins'] });
    const { headers } = await api.post('/api/core/v2/apikeys', { username: 'ann' });
    await api.post('/ns/default/silenced', {
      metadata: { namespace: 'default' },
      subscription: 'linux',
      check: 'disk',
    });
    const metadata = { name: 'alerts', namespace: 'default' };
    await api.post('/ns/default/handlers', { metadata, type: 'pipe', command: 'cat' });
    await api.put('/ns/default/events/p1/disk', proxyEvent('p1', 'disk', { status: 2 }));
    return String(headers.location).split('/').at(-1) ?? '';
  }

  it('F24: bring users, keys, silences, events and the ledger to an empty machine, with the same hash of all resources', async () => {
    backend = await BackendProcess.start({ stateDir });
    const api = await backend.login();
    const key = await fill(api);
    const made = await backup();
    expect(made.code, made.stderr).to.equal(0);
    expect(made.stdout).to.include(`backup: ${path}\nmanifest: ${manifest()}\n`);
    const startedMs = performance.now();
    const restored = await restore();
    expect(restored.code, restored.stderr).to.equal(0);
    expect(performance.now() - startedMs).to.be.below(RESTORED_WITHIN_MS);
    expect(restored.stdout).to.include('ledger ok');
    await backend.stop();

    expect((await verify(other)).stdout).to.match(/^ledger ok: /);
    const [before, after] = [await recordsOf(join(stateDir, 'store')), await recordsOf(join(other, 'store'))];
    for (const [table, records] of before) {
      if (!OF_THE_PROCESS.has(table)) expect(after.get(table), table).to.deep.equal(records);
    }
    backend = await BackendProcess.start({ stateDir: other });
    const ann = await ApiClient.login(backend.apiPort, { username: 'ann', password: 'An0ther-P@ss' });
    const authorization = `Key ${key}`;
    const byKey = await ann.request({ method: 'GET', path: '/ns/default/silenced', headers: { authorization } });
    expect(byKey.json).to.have.length(1);
    expect(await ann.event('p1', 'disk')).to.have.nested.property('check.status', 2);
    ann.close();
  });

  it('F24: a backup under load has every event that was acknowledged before it began, and a ledger that fits', async () => {
    backend = await BackendProcess.start({ stateDir });
    const api = await ApiClient.login(backend.apiPort);
    const senders = Array.from({ length: SENDERS }, (_, index) => new HttpSender(index));
    const acknowledged = (): number => senders.reduce((sum, sender) => sum + sender.acknowledged, 0);
    const running = senders.map((sender) => sender.run(api));
    await eventually(() => acknowledged() > LOADED_EVENTS, Boolean, { withinMs: 30_000, what: 'the load' });
    let atBegin: number[] = [];
    let meanwhile = 0;
    // A backup of so few records may end before the next event is acknowledged.
    for (let attempt = 0; attempt < MAX_BACKUPS && meanwhile === 0; attempt += 1) {
      for (const file of [path, manifest()]) rmSync(file, { force: true });
      const before = acknowledged();
      atBegin = senders.map((sender) => sender.acknowledged);
      await succeeds(backup);
      meanwhile = acknowledged() - before;
    }
    expect(meanwhile, `events acknowledged during ${MAX_BACKUPS} backups`).to.be.above(0);
    await backend.kill();
    await Promise.all(running);
    api.close();

    expect((await restore()).code).to.equal(0);
    expect((await verify(other)).code).to.equal(0);
    const store = new LmdbStore({ directory: join(other, 'store'), sync: 'full', readOnly: true });
    try {
      for (const [index, { entity, check, sent }] of senders.entries()) {
        const record = store.get('events', eventKey('default', entity, check));
        const stored = record === undefined ? 0 : numberIn(eventOf(record).check.output);
        expect(stored).to.be.within(atBegin[index] ?? 0, sent);
      }
    } finally {
      await store.close();
    }
  });

  it('case 38: a running backend is backed up, and its store is not replaced', async () => {
    backend = await BackendProcess.start({ stateDir });
    expect((await backup()).code).to.equal(0);
    expect((await recordsOf(path)).get('resources')?.size).to.be.above(5);
    const refused = await runCommand(['restore', path, '--replace', '--state-dir', stateDir]);
    expect(refused.code).to.equal(1);
    expect(refused.stderr).to.include('store is in use by process');
  });

  it('write only files that the owner alone can access, below the state directory by default, and keep the newest', async () => {
    const old = join(stateDir, 'backups', 'backup-20200101T000000Z.mdb');
    mkdirSync(join(stateDir, 'backups'));
    for (const file of [old, `${old}.manifest.json`]) writeFileSync(file, '');
    const { code, stdout } = await runCommand(['backup', '--state-dir', stateDir, '--backup-keep', '1']);
    expect(stdout).to.include(`removed: ${old}\n`);
    expect(code).to.equal(0);
    const [, made = ''] = /^backup: (.*)$/m.exec(stdout) ?? [];
    expect(made).to.match(/\/state\/backups\/backup-\d{8}T\d{6}Z\.mdb$/);
    for (const file of [made, `${made}.manifest.json`]) expect(statSync(file).mode & 0o777).to.equal(0o600);
    expect(readdirSync(join(stateDir, 'backups'))).to.have.length(2);
  });

  it('never overwrite a file or a store', async () => {
    writeFileSync(path, 'kept');
    const refused = await backup();
    expect(refused.code).to.equal(1);
    expect(refused.stderr).to.include('already exists');
    expect(readFileSync(path, 'utf8')).to.equal('kept');
    rmSync(path);
    await backup();
    await initialiseState(other);
    const before = readFileSync(join(other, 'store/data.mdb'));
    const present = await restore();
    expect(present.code).to.equal(1);
    expect(present.stderr).to.include('--replace');
    expect(readFileSync(join(other, 'store/data.mdb')).equals(before)).to.equal(true);
    const replaced = await restore('--replace');
    expect(replaced.code, replaced.stderr).to.equal(0);
    const [, aside = ''] = /^former store: (.*)$/m.exec(replaced.stdout) ?? [];
    expect(readFileSync(join(aside, 'data.mdb')).equals(before)).to.equal(true);
  });

  function overwrite(at: number, bytes: Buffer): void {
    const file = openSync(path, 'r+');
    writeSync(file, bytes, 0, bytes.length, at);
    closeSync(file);
  }

  const DAMAGES: readonly [string, string, () => void][] = [
    ['has a changed byte', 'its SHA-256 differs', () => overwrite(9_000, Buffer.from('?'))],
    ['is cut in half', 'its SHA-256 differs', () => truncateSync(path, 16_384)],
    [
      'is cut in half and has no manifest',
      'is damaged',
      () => {
        rmSync(manifest());
        truncateSync(path, 16_384);
      },
    ],
    [
      'is another file and has no manifest',
      'it is not a database',
      () => {
        rmSync(manifest());
        writeFileSync(path, 'x'.repeat(40_000));
      },
    ],
    ['has a manifest that is none', 'is not the manifest of a backup', () => writeFileSync(manifest(), '{}')],
    [
      'has a manifest of more than a mebibyte',
      'is not the manifest of a backup',
      () => appendFileSync(manifest(), ' '.repeat(1024 * 1024)),
    ],
    [
      'has a named pipe as its manifest',
      'is not the manifest of a backup',
      () => {
        rmSync(manifest());
        execFileSync('mkfifo', [manifest()]);
      },
    ],
    [
      'is a named pipe',
      'is not a regular file',
      () => {
        rmSync(path);
        execFileSync('mkfifo', [path]);
      },
    ],
    ['does not exist', 'there is no backup', () => rmSync(path)],
  ];
  for (const [what, reason, damage] of DAMAGES) {
    it(`leave the state directory unchanged when the backup ${what}`, async () => {
      await backup();
      damage();
      const { code, stderr } = await restore();
      expect(code).to.equal(1);
      expect(stderr).to.include(reason);
      expect(existsSync(other)).to.equal(false);
      mkdirSync(other);
      expect((await restore()).code).to.equal(1);
      expect(readdirSync(other)).to.deep.equal([]);
    });
  }

  it('keep the former store of each restore with --replace, also of two within a second', async () => {
    await succeeds(backup);
    await succeeds(() => restore());
    for (let n = 0; n < 3; n += 1) await succeeds(() => restore('--replace'));
    expect(readdirSync(other).filter((name) => name.startsWith('store.old-'))).to.have.length(3);
  });

  it('refuse a backup of a newer version with exit code 4', async () => {
    const root = openEnvironment({ directory: join(stateDir, 'store'), sync: 'full' });
    await textTable(root, 'meta').put(STORE_VERSION_KEY, sealText('999'));
    await root.close();
    expect((await backup()).code).to.equal(4);
    mkdirSync(other);
    writeFileSync(path, readFileSync(join(stateDir, 'store/data.mdb')));
    expect((await restore()).code).to.equal(4);
    expect(readdirSync(other)).to.deep.equal([]);
  });

  it('copy damaged records as they are, name them, and exit with 1', async () => {
    const root = openEnvironment({ directory: join(stateDir, 'store'), sync: 'full' });
    await textTable(root, 'resources').put('handlers/default/torn', Buffer.from('no record'));
    await root.close();
    const made = await backup();
    expect(made.code).to.equal(1);
    expect(made.stderr).to.include('resources handlers/default/torn');
    const restored = await restore();
    expect(restored.code).to.equal(1);
    expect(restored.stderr).to.include('resources handlers/default/torn');
  });

  it('continue after kill -9 at any moment: no file has the name of the backup, and the next attempt succeeds', async () => {
    for (const afterMs of [150, 300, 450, 600]) {
      const child = spawn(process.execPath, [PROGRAM, 'backup', path, '--state-dir', stateDir], { stdio: 'ignore' });
      setTimeout(() => child.kill('SIGKILL'), afterMs);
      await once(child, 'close');
      if (existsSync(path)) {
        await succeeds(() => restore('--replace'));
        rmSync(path);
      }
    }
    await succeeds(backup);
    await succeeds(() => restore('--replace'));
  });
});
