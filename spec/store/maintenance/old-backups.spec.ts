import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { removeOldBackups } from '../../../src/store/maintenance/old-backups.ts';
import { perTest } from '../../support/fixture.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const OLD = ['backup-20261101T000000Z.mdb', 'backup-20261102T000000Z.mdb'];
const NEW = ['backup-20261103T000000Z.mdb', 'backup-20261104T000000Z.mdb'];
const UPGRADES = ['pre-9-10-20261101T000000Z.mdb', 'pre-10-11-20261102T000000Z.mdb'];
const OTHERS = ['backup-monday.mdb', 'store.mdb', 'backup-20261101T000000Z.mdb.partial', 'notes.txt'];
const manifests = (names: readonly string[]): string[] => names.map((name) => `${name}.manifest.json`);

describe('the removal of old backups', () => {
  const directory = perTest(temporaryDirectory, (made) => made.remove());

  beforeEach(() => {
    const names = [...OLD, ...NEW, ...manifests([...OLD, ...NEW]), ...UPGRADES, ...OTHERS];
    for (const name of names) writeFileSync(join(directory.path, name), '');
  });

  const left = (): string[] => readdirSync(directory.path);

  it('removes all but the newest of a command, with their manifests', () => {
    const removed = removeOldBackups(directory.path, 'backup', 2);
    expect(removed).to.have.members(OLD.map((name) => join(directory.path, name)));
    expect(left()).to.have.members([...NEW, ...manifests(NEW), ...UPGRADES, ...OTHERS]);
  });

  it('compares the times of the backups of upgrades, not the versions in their names', () => {
    expect(removeOldBackups(directory.path, 'upgrade', 1)).to.deep.equal([join(directory.path, UPGRADES[0] ?? '')]);
  });

  it('removes nothing at 0, and nothing where there is no directory', () => {
    expect(removeOldBackups(directory.path, 'backup', 0)).to.deep.equal([]);
    expect(removeOldBackups(join(directory.path, 'none'), 'backup', 1)).to.deep.equal([]);
  });
});
