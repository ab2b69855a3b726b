import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { BackupFailed, makeBackup } from '../../../src/store/maintenance/backup.ts';
import { RawStore } from '../../../src/store/lmdb/raw-store.ts';
import { perTest } from '../../support/fixture.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { fillStore } from '../example-migrations.ts';
import { recordsOf } from '../stored-records.ts';

/** A store on a disk without space, or one whose copy lacks the store's last writes. */
class FaultyStore extends RawStore {
  defect: 'full' | 'stale' | 'large' | undefined;
  stale = '';

  override size() {
    const size = super.size();
    return this.defect === 'large' ? { ...size, usedBytes: Number.MAX_SAFE_INTEGER } : size;
  }

  override async copyTo(directory: string): Promise<void> {
    if (this.defect === 'full') throw new Error('No space left on device');
    if (this.defect !== 'stale') return super.copyTo(directory);
    const other = new RawStore({ directory: this.stale, sync: 'none' });
    await other.copyTo(directory);
    await other.close();
  }
}

describe('a backup', () => {
  const directory = perTest(temporaryDirectory, (made) => made.remove());
  let store: FaultyStore;
  let path: string;

  beforeEach(async () => {
    const home = join(directory.path, 'store');
    await fillStore(home, 50);
    store = new FaultyStore({ directory: home, sync: 'none' });
    path = join(directory.path, 'backups', 'copy.mdb');
  });

  afterEach(() => store.close());

  const signal = new AbortController().signal;
  const make = () => makeBackup(store, { path, signal, reached: () => undefined });
  const refused = () => make().catch((error: unknown) => error);

  it('is one file with all records that only its owner can access', async () => {
    const { records, ledger } = await make();
    expect(records).to.be.above(50);
    expect(ledger).to.have.property('ok', true);
    expect(statSync(path).mode & 0o777).to.equal(0o600);
    expect(readdirSync(join(directory.path, 'backups'))).to.deep.equal(['copy.mdb']);
    expect((await recordsOf(path)).get('resources')?.size).to.equal(50);
  });

  it('fails when the disk becomes full during the copy, and leaves no file', async () => {
    store.defect = 'full';
    expect(await refused())
      .to.be.instanceOf(BackupFailed)
      .and.have.property('message')
      .contain('No space left');
    expect(readdirSync(join(directory.path, 'backups'))).to.deep.equal([]);
  });

  it('is not started when there is too little free space', async () => {
    store.defect = 'large';
    expect(await refused())
      .to.be.instanceOf(BackupFailed)
      .and.have.property('message')
      .contain('free space');
  });

  for (const [what, records] of [
    ['fewer', 49],
    ['more', 51],
  ] as const) {
    it(`fails when the copy has ${what} records than the store`, async () => {
      store.defect = 'stale';
      store.stale = join(directory.path, 'other');
      await fillStore(store.stale, records);
      expect(await refused()).to.be.instanceOf(BackupFailed);
      expect(existsSync(path)).to.equal(false);
    });
  }

  it('fails when a value in the copy differs', async () => {
    store.defect = 'stale';
    store.stale = join(directory.path, 'other');
    await fillStore(store.stale, 50);
    const other = new RawStore({ directory: store.stale, sync: 'none' });
    other.write([{ table: 'resources', key: 'things/00020', payload: Buffer.from('{}') }], {});
    await other.close();
    expect(String(await refused())).to.contain('the copy differs at resources things/00020');
  });

  it('ends with the reason of its abort signal, and leaves no file', async () => {
    const controller = new AbortController();
    const reason = new Error('stopped');
    const ended = makeBackup(store, {
      path,
      signal: controller.signal,
      reached: () => {
        controller.abort(reason);
      },
    }).catch((error: unknown) => error);
    expect(await ended).to.equal(reason);
    expect(readdirSync(join(directory.path, 'backups'))).to.deep.equal([]);
  });
});
