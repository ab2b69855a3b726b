import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { BackupFailed } from '../../../src/store/maintenance/backup.ts';
import { openEnvironment, textTable } from '../../../src/store/lmdb/lmdb-environment.ts';
import type { Migration } from '../../../src/store/migrations/migration.ts';
import { rewriteJson } from '../../../src/store/migrations/rewrite.ts';
import { CorruptRecord } from '../../../src/store/encoding/sealed.ts';
import { STORE_VERSION } from '../../../src/store/lmdb/store-version.ts';
import {
  MigrationFailed,
  type UpgradeOptions,
  type UpgradeProgress,
  upgradeStore,
} from '../../../src/store/maintenance/upgrade.ts';
import { perTest } from '../../support/fixture.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { EXAMPLE_MIGRATIONS, FIRST, fillStore, increment, type Numbered } from '../example-migrations.ts';
import { recordsOf } from '../stored-records.ts';

/** More than one batch. */
const RECORDS = 2_500;
const AT_MS = Date.UTC(2026, 10, 22, 12);

describe('the upgrade of a store', () => {
  const directory = perTest(temporaryDirectory, (made) => made.remove());
  let store: string;
  let progress: UpgradeProgress[];

  beforeEach(async () => {
    store = join(directory.path, 'store');
    progress = [];
    await fillStore(store, RECORDS);
  });

  const upgrade = (options: Partial<UpgradeOptions> = {}) =>
    upgradeStore({
      directory: store,
      backupDirectory: join(directory.path, 'backups'),
      program: '1.2.3',
      nowMs: () => AT_MS,
      signal: new AbortController().signal,
      report: (report) => progress.push(report),
      migrations: EXAMPLE_MIGRATIONS,
      ...options,
    });

  const typesReported = () => [...new Set(progress.map(({ type }) => type))];
  const backups = () => readdirSync(join(directory.path, 'backups'));

  it('applies the steps in order, each once to every record', async () => {
    await upgrade();
    const after = await recordsOf(store);
    expect(after.get('resources')?.size).to.equal(RECORDS);
    for (const [key, value] of after.get('resources') ?? []) {
      expect(JSON.parse(value), key).to.deep.equal({ name: key, n: 3 });
    }
    expect(after.get('sessions')?.get('one')).to.equal('{"name":"one","n":1}');
    expect(after.get('byName')?.size).to.equal(RECORDS);
    expect(after.get('meta')?.get('store-version')).to.equal(String(FIRST + 1));
    expect(after.get('meta')?.has('upgrade')).to.equal(false);
  });

  it('reports its progress in order', async () => {
    await upgrade();
    expect(typesReported()).to.deep.equal([
      'backup.begun',
      'backup.copied',
      'backup.compared',
      'backup.made',
      'upgrade.begun',
      'records.converted',
      'step.finished',
      'upgrade.finished',
    ]);
  });

  it('makes a backup before the first change that equals the previous store', async () => {
    const before = await recordsOf(store);
    const result = await upgrade();
    expect(backups()).to.deep.equal([`pre-${STORE_VERSION}-${FIRST + 1}-20261122T120000Z.mdb`]);
    expect(result?.backup).to.equal(join(directory.path, 'backups', backups()[0] ?? ''));
    expect(await recordsOf(result?.backup ?? '')).to.deep.equal(before);
    const made = progress.find((report) => report.type === 'backup.made');
    expect(made?.backup.ledger).to.deep.include({ ok: true });
    expect(made?.backup.records).to.be.above(RECORDS);
  });

  it('does nothing when it runs again', async () => {
    await upgrade();
    const before = await recordsOf(store);
    progress = [];
    expect(await upgrade()).to.equal(undefined);
    expect(progress).to.deep.equal([]);
    expect(await recordsOf(store)).to.deep.equal(before);
    expect(backups()).to.have.length(1);
  });

  it('does not change the ledger', async () => {
    await upgrade();
    const entries = await recordsOf(store);
    expect(entries.get('ledger')?.size).to.equal(1);
  });

  it('stops after the current batch when it is aborted, and continues from there', async () => {
    const controller = new AbortController();
    const stopped: unknown = await upgrade({
      signal: controller.signal,
      report: ({ type }) => {
        if (type === 'records.converted') controller.abort(new Error('stopped'));
      },
    }).catch((error: unknown) => error);
    expect(stopped).to.be.instanceOf(Error).with.property('message', 'stopped');
    const half = await recordsOf(store);
    expect([...(half.get('resources')?.values() ?? [])].filter((text) => text.endsWith('"n":1}'))).to.have.length(
      1_000,
    );
    await upgrade();
    expect(typesReported()).to.include('upgrade.resumed').and.not.include('backup.begun');
    const values = [...((await recordsOf(store)).get('resources')?.values() ?? [])];
    expect(values.every((text) => text.endsWith('"n":3}'))).to.equal(true);
  });

  it('stops at a record that cannot be converted and names it', async () => {
    const broken: Migration = {
      to: FIRST,
      name: 'broken',
      passes: [
        rewriteJson('resources', (value) => {
          if ((value as Numbered).name.endsWith('1500')) throw new Error('no such thing');
          return increment(value);
        }),
      ],
    };
    const error: unknown = await upgrade({ migrations: [broken] }).catch((failure: unknown) => failure);
    expect(error).to.be.instanceOf(MigrationFailed);
    expect(String(error)).to.contain(`step to version ${FIRST} (broken) failed at resources`).and.contain('1500');
  });

  it('removes the incomplete backup of a process that was killed', async () => {
    mkdirSync(join(directory.path, 'backups', 'pre-1-2-x.mdb.partial'), { recursive: true });
    await upgrade();
    expect(backups()).to.have.length(1);
  });

  it('keeps what other programs write into the backup directory', async () => {
    const others = ['backup-20261126T000000Z.mdb.partial', 'ledger.ndjson.partial', 'other.partial'];
    for (const name of others) mkdirSync(join(directory.path, 'backups', name), { recursive: true });
    await upgrade();
    expect(backups()).to.include.members(others);
  });

  it('skips a record whose checksum does not match and names it', async () => {
    await damage(store, 'things/00007');
    await upgrade();
    const damaged = progress.filter((report) => report.type === 'record.unreadable');
    expect(damaged.map(({ table, key }) => `${table} ${key}`)).to.include('resources things/00007');
    await recordsOf(store).then(
      () => expect.fail('the record should still be damaged'),
      (error: unknown) => expect(error).to.be.instanceOf(CorruptRecord),
    );
  });

  it('changes nothing when the backup directory cannot be created', async () => {
    const before = await recordsOf(store);
    writeFileSync(join(directory.path, 'backups'), 'a file');
    const error: unknown = await upgrade().catch((failure: unknown) => failure);
    expect(error).to.be.instanceOf(BackupFailed);
    expect(await recordsOf(store)).to.deep.equal(before);
  });
});

async function damage(directory: string, key: string): Promise<void> {
  const root = openEnvironment({ directory, sync: 'none' });
  const table = textTable(root, 'resources');
  const value = Buffer.from(table.get(key) ?? '');
  value.writeUInt8(value.readUInt8(value.length - 1) ^ 1, value.length - 1);
  await table.put(key, value);
  await root.close();
}
