import { expect } from 'chai';
import { open } from 'lmdb';
import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DATA_FILE, prepareDataFile } from '../../../src/store/lmdb/lmdb-file.ts';
import { CorruptRecord } from '../../../src/store/encoding/sealed.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../../support/temporary-directory.ts';

const RECORDS = 200;

describe('the data file of LMDB', () => {
  let directory: TemporaryDirectory;
  let path: string;

  beforeEach(async () => {
    directory = await temporaryDirectory();
    path = join(directory.path, DATA_FILE);
    const root = open<Buffer, number>({ path: directory.path, encoding: 'binary', overlappingSync: false });
    for (let n = 0; n < RECORDS; n += 1) void root.put(n, Buffer.alloc(900, n));
    await root.flushed;
    await root.close();
  });

  afterEach(() => directory.remove());

  it('is not changed when it is complete', () => {
    const before = readFileSync(path);
    prepareDataFile(directory.path);
    expect(readFileSync(path).equals(before)).to.equal(true);
  });

  for (const bytes of [5_000, 12_288]) {
    it(`is extended when it was cut to ${bytes} bytes, so that reading the missing part is an error`, async () => {
      const whole = statSync(path).size;
      truncateSync(path, bytes);
      prepareDataFile(directory.path);
      expect(statSync(path).size).to.equal(whole);
      const read = async (): Promise<number> => {
        const root = open<Buffer, number>({ path: directory.path, encoding: 'binary', overlappingSync: false });
        try {
          return [...root.getRange({})].length;
        } finally {
          await root.close();
        }
      };
      const error: unknown = await read().catch((failure: unknown) => failure);
      expect(error).to.be.instanceOf(Error);
    });
  }

  it('is rejected when it is not a database', () => {
    writeFileSync(path, 'x'.repeat(9_000));
    expect(() => {
      prepareDataFile(directory.path);
    }).to.throw(CorruptRecord, 'is not a database');
  });

  it('can be missing or empty', async () => {
    writeFileSync(path, '');
    prepareDataFile(directory.path);
    const other = await temporaryDirectory();
    prepareDataFile(other.path);
    await other.remove();
  });
});
