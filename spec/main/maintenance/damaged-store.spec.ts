import { spawnSync } from 'node:child_process';
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { LmdbStore } from '../../../src/store/lmdb/lmdb-store.ts';
import { emptyPuts } from '../../../src/store/commit/decision.ts';
import { openEnvironment, textTable } from '../../../src/store/lmdb/lmdb-environment.ts';
import { damageFile, PAGE_BYTES } from '../../store/pages/store-damage.ts';
import { READY, runCommand } from '../../support/backend-command.ts';
import { BackendProcess, initialiseState, runProgram } from '../../support/backend-process.ts';
import { proxyEvent } from '../../support/example-events.ts';
import { perSuite, perTest } from '../../support/fixture.ts';
import { SeededRandom } from '../../support/seeded-random.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const RANDOM_DAMAGES = 4;
const ADMIN = ['--cluster-admin-username', 'admin', '--cluster-admin-password', '12345678'];
const LISTENERS = [
  '--api-listen-address=127.0.0.1:0',
  '--agent-host=127.0.0.1',
  '--agent-port=0',
  '--legacy-api-listen-address=',
  '--dashboard-host=127.0.0.1',
  '--dashboard-port=0',
];

describe('F14: a damaged store', function () {
  this.timeout(120_000);
  /** A store with events, which every test copies. */
  const source = perSuite(
    async () => {
      const made = await temporaryDirectory();
      const stateDir = join(made.path, 'state');
      await initialiseState(stateDir);
      const backend = await BackendProcess.start({ stateDir });
      const api = await backend.login();
      for (let n = 0; n < 60; n += 1) await api.put(`/ns/default/events/p${n}/disk`, proxyEvent(`p${n}`, 'disk'));
      await api.post('/ns/default/handlers', {
        metadata: { name: 'long', namespace: 'default' },
        type: 'pipe',
        command: 'x'.repeat(20_000),
      });
      await backend.stop();
      return { stateDir, remove: () => made.remove() };
    },
    (made) => made.remove(),
  );
  const directory = perTest(temporaryDirectory, (made) => made.remove());
  let stateDir: string;
  let data: string;

  beforeEach(() => {
    stateDir = join(directory.path, 'state');
    data = join(stateDir, 'store/data.mdb');
    cpSync(source.stateDir, stateDir, { recursive: true });
    rmSync(join(stateDir, 'store/lock.mdb'), { force: true });
  });

  const run = (...args: string[]) => runCommand([...args, '--state-dir', stateDir], { withinMs: 20_000 });
  const start = (): string[] => ['start', '--state-dir', stateDir, '--cache-dir', directory.path, ...LISTENERS];

  function write(at: number, bytes: Buffer): void {
    const file = openSync(data, 'r+');
    writeSync(file, bytes, 0, bytes.length, at);
    closeSync(file);
  }

  const DAMAGES: readonly [string, () => void][] = [
    ['pages are overwritten', () => write(2 * PAGE_BYTES, Buffer.alloc(statSync(data).size - 2 * PAGE_BYTES, 'x'))],
    ['pages are zero', () => write(2 * PAGE_BYTES, Buffer.alloc(statSync(data).size - 2 * PAGE_BYTES))],
    [
      'the file is cut in half',
      () => truncateSync(data, Math.floor(statSync(data).size / PAGE_BYTES / 2) * PAGE_BYTES),
    ],
    ['the header is overwritten', () => write(0, Buffer.alloc(200, 'x'))],
    ['the file is another one', () => writeFileSync(data, 'something else')],
    ['the file is empty', () => truncateSync(data, 0)],
    ['the table of readers is a directory', () => mkdirSync(join(stateDir, 'store/lock.mdb'))],
  ];
  for (const [what, damage] of DAMAGES) {
    it(`is refused with exit code 5 when ${what}; the message names the file and says how to restore`, async () => {
      damage();
      const before = readFileSync(data);
      const { code, stderr } = await runCommand(start(), { until: READY });
      expect(code, stderr).to.equal(5);
      expect(stderr).to.include(data.replace('/data.mdb', '')).and.include('mon-backend restore <backup> --replace');
      expect(readFileSync(data).subarray(0, before.length).equals(before)).to.equal(true);
      for (const command of [['backup'], ['ledger', 'verify'], ['upgrade', '--skip-confirm']]) {
        const ended = await run(...command);
        expect(ended.code, `${command.join(' ')}: ${ended.stderr}`).to.equal(5);
        expect(ended.stderr).to.include('the store is damaged');
      }
      expect((await run('check-store')).code).to.be.oneOf([1, 5]);
    });
  }

  it('is refused with exit code 5 when the file is gone after a clean stop, and no command begins a new store', async () => {
    rmSync(data);
    for (const command of [['backup'], ['ledger', 'verify'], ['upgrade', '--skip-confirm'], ['init', ...ADMIN]]) {
      const { code, stderr } = await run(...command);
      expect(code, `${command.join(' ')}: ${stderr}`).to.equal(5);
      expect(stderr).to.include(`${data}: the file is missing`).and.include('mon-backend restore <backup> --replace');
    }
    const { code, stderr } = await runCommand(start(), { until: READY });
    expect(code, stderr).to.equal(5);
    expect(stderr).to.include(`${data}: the file is missing`);
    expect(existsSync(data)).to.equal(false);
  });

  it('is reported as too short by every command when the file was cut, with the reason once', async () => {
    truncateSync(data, Math.floor(statSync(data).size / PAGE_BYTES / 2) * PAGE_BYTES);
    const { size } = statSync(data);
    for (const command of [['backup'], ['ledger', 'verify'], ['upgrade', '--skip-confirm']]) {
      const { stderr } = await run(...command);
      const { error, msg } = JSON.parse(stderr) as { error: string; msg: string };
      expect(error).to.match(/page \d+( \([^)]+\))?: the file ends before the end of this page/);
      expect(error.split('the file ends')).to.have.length(2);
      expect(msg).to.equal('error executing mon-backend');
    }
    expect(statSync(data).size).to.equal(size);
    expect((await run('check-store')).stdout).to.include('the file ends before the end of this page');
  });

  it('opens again once a directory in the place of the table of readers is removed, which every command names once', async () => {
    const readers = join(stateDir, 'store/lock.mdb');
    mkdirSync(readers);
    const exported = join(directory.path, 'exported');
    for (const command of [
      ['check-store'],
      ['backup'],
      ['ledger', 'verify'],
      ['ledger', 'export', exported],
      ['upgrade', '--skip-confirm'],
      ['start', '--cache-dir', directory.path, ...LISTENERS],
    ]) {
      const { code, stderr } = await run(...command);
      expect(code, stderr).to.equal(5);
      const { error } = JSON.parse(stderr.trim().split('\n').at(-1) ?? '') as { error: string };
      expect(error.split(readers)).to.have.length(2);
      expect(error).to.match(
        /^the store is damaged: \S+ is not a file; stop the backend and remove it, LMDB creates a new one; if that does not help, restore/,
      );
      expect(error.split('restore')).to.have.length(3);
    }
    rmdirSync(readers);
    expect((await run('check-store')).code).to.equal(0);
  });

  it('starts when the table of readers is another file, because the store is intact', async () => {
    writeFileSync(join(stateDir, 'store/lock.mdb'), 'x'.repeat(9_000));
    const { code, stderr } = await runCommand(start(), { until: READY });
    expect(stderr).to.include(READY);
    expect(code).to.equal(0);
  });

  it('never ends a program without a message, whatever is damaged', async () => {
    const random = SeededRandom.fresh();
    for (let n = 0; n < RANDOM_DAMAGES; n += 1) {
      cpSync(join(source.stateDir, 'store/data.mdb'), data);
      const what = `seed ${random.seed}, ${damageFile(data, n, random)}`;
      const { code, stderr } = await runProgram(start(), { withinMs: 20_000, until: READY });
      const isRunning = stderr.includes(READY);
      expect(isRunning ? [0, 5] : [5], `${what}: ${stderr}`).to.include(code);
      if (!isRunning) expect(stderr, what).to.include('the store is damaged');
    }
  });

  it('is replaced by a backup, and stays beside it', async () => {
    const path = join(directory.path, 'copy.mdb');
    expect((await run('backup', path)).code).to.equal(0);
    write(2 * PAGE_BYTES, Buffer.alloc(statSync(data).size - 2 * PAGE_BYTES, 'x'));
    expect((await run('restore', path, '--replace')).code).to.equal(0);
    const backend = await BackendProcess.start({ stateDir });
    try {
      expect(await (await backend.login()).event('p7', 'disk')).to.have.nested.property('check.status');
    } finally {
      await backend.stop();
    }
  });

  describe('as check-store reports it', () => {
    const check = () => run('check-store');

    it('is undamaged after the backend has stopped', async () => {
      const { code, stdout } = await check();
      expect(code, stdout).to.equal(0);
      expect(stdout).to.include('no findings');
    });

    it('is not looked at while a backend uses it', async () => {
      const backend = await BackendProcess.start({ stateDir });
      try {
        const { code, stderr } = await check();
        expect(code).to.equal(1);
        expect(stderr).to.include('store is in use by process');
      } finally {
        await backend.stop();
      }
    });

    /** Changes a table without the others. */
    async function change(
      table: string,
      apply: (open: ReturnType<typeof textTable>) => Promise<unknown>,
    ): Promise<void> {
      const root = openEnvironment({ directory: join(stateDir, 'store'), sync: 'full' });
      await apply(textTable(root, table));
      await root.close();
    }

    const FINDINGS: readonly [string, string, () => Promise<void>][] = [
      [
        'a record with a wrong checksum',
        'events default/p3/disk: its checksum does not match',
        () =>
          change('events', (table) => {
            const bytes = Buffer.from(table.get('default/p3/disk') ?? '');
            bytes[20] = 255 - (bytes[20] ?? 0);
            return table.put('default/p3/disk', bytes);
          }),
      ],
      [
        'an event that the index lacks',
        'events default/p3/disk: the index by check does not contain it',
        () => change('eventsByCheck', (table) => table.remove('default/disk/p3')),
      ],
      [
        'an index entry without an event',
        'eventsByCheck default/disk/nobody: there is no such event',
        () => change('eventsByCheck', (table) => table.put('default/disk/nobody', Buffer.alloc(0))),
      ],
      [
        'a number of entities that is wrong',
        'resources entity-count: it says 60, and there are 59 entities',
        () => change('resources', (table) => table.remove('entities/default/p3')),
      ],
      [
        'a ledger entry that its index lacks',
        'the index by key does not contain it',
        () =>
          change('ledgerByKey', (table) => {
            const [first = ''] = [...table.getKeys({ limit: 1 })];
            return table.remove(first);
          }),
      ],
    ];
    for (const [what, line, damage] of FINDINGS) {
      it(`has ${what}`, async () => {
        await damage();
        const { code, stdout } = await check();
        expect(code, stdout).to.equal(1);
        expect(stdout).to.include(line);
      });
    }

    it('has a check in a namespace that does not exist', async () => {
      const store = new LmdbStore({ directory: join(stateDir, 'store'), sync: 'full' });
      const puts = emptyPuts();
      puts.resources.set('checks/ghost/cpu', { metadata: { name: 'cpu', namespace: 'ghost' } });
      await store.write({ puts, ledger: [] });
      await store.close();
      const { code, stdout } = await check();
      expect(code).to.equal(1);
      expect(stdout).to.include('resources checks/ghost/cpu: the namespace ghost does not exist');
    });
  });
});

/** A file system of a few MiB that only this command sees. */
const ON_SMALL_DISK = (size: string, directory: string): string[] => [
  'unshare',
  '--user',
  '--map-root-user',
  '--mount',
  'sh',
  '-c',
  `mount -t tmpfs -o size=${size},mode=700 tmpfs '${directory}' && exec "$0" "$@"`,
];

describe('F13: a backup', () => {
  const directory = perTest(temporaryDirectory, (made) => made.remove());

  it('ends with the reason on a disk that has no room for it, and leaves nothing', async () => {
    const stateDir = join(directory.path, 'state');
    await initialiseState(stateDir);
    const small = join(directory.path, 'small');
    mkdirSync(small);
    expect(spawnSync('unshare', ['--user', '--map-root-user', '--mount', 'true']).status).to.equal(0);
    const args = ['backup', join(small, 'copy.mdb'), '--state-dir', stateDir];
    const { code, stderr } = await runProgram(args, { withinMs: 20_000, prefix: ON_SMALL_DISK('16k', small) });
    expect(code).to.equal(5);
    expect(stderr).to.include('could not be made').and.include('bytes of free space');
  });
});
