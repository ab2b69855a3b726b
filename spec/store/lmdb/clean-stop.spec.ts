import { chmodSync, closeSync, cpSync, openSync, readSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { systemClock } from '../../../src/main/process/system-clock.ts';
import { isUnchangedSinceCleanStop } from '../../../src/store/lmdb/clean-stop.ts';
import { DiskQueue } from '../../../src/store/disk-queue.ts';
import { LmdbStore } from '../../../src/store/lmdb/lmdb-store.ts';
import { perTest } from '../../support/fixture.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const LAST_BYTE = 4_095;

interface Closed {
  close(): Promise<void>;
}

const KINDS: readonly [string, (directory: string) => Promise<Closed>][] = [
  ['a store', (directory) => Promise.resolve(new LmdbStore({ directory, sync: 'full' }))],
  ['a queue', (directory) => DiskQueue.open(directory, systemClock, 0)],
];

for (const [what, open] of KINDS) {
  describe(`the data file of ${what}`, () => {
    const made = perTest(temporaryDirectory, (directory) => directory.remove());
    const directory = (): string => join(made.path, 'data');
    const dataFile = (): string => join(directory(), 'data.mdb');
    const isLeft = (): boolean => isUnchangedSinceCleanStop(directory());

    beforeEach(async () => {
      expect(isLeft()).to.equal(false);
      const opened = await open(directory());
      await opened.close();
    });

    it('is as its clean stop left it', () => {
      expect(isLeft()).to.equal(true);
    });

    it('is not as left while it is in use, and is again after the next clean stop', async () => {
      const opened = await open(directory());
      expect(isLeft()).to.equal(false);
      await opened.close();
      expect(isLeft()).to.equal(true);
    });

    it('is not as left after a byte was written, even the same one', () => {
      const file = openSync(dataFile(), 'r+');
      const byte = Buffer.alloc(1);
      readSync(file, byte, 0, 1, LAST_BYTE);
      writeSync(file, byte, 0, 1, LAST_BYTE);
      closeSync(file);
      expect(isLeft()).to.equal(false);
    });

    it('is not as left after it was cut', () => {
      truncateSync(dataFile(), LAST_BYTE);
      expect(isLeft()).to.equal(false);
    });

    it('is not as left after its mode changed', () => {
      chmodSync(dataFile(), 0o640);
      expect(isLeft()).to.equal(false);
    });

    it('is not as left when the directory is a copy', () => {
      const copy = join(made.path, 'copy');
      cpSync(directory(), copy, { recursive: true, preserveTimestamps: true });
      expect(isUnchangedSinceCleanStop(copy)).to.equal(false);
    });
  });
}
