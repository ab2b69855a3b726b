import { expect } from 'chai';
import fc from 'fast-check';
import { statSync } from 'node:fs';
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DiskQueue, type StoredEvent } from '../../src/store/disk-queue.ts';
import { CorruptRecord } from '../../src/store/encoding/sealed.ts';
import { StoreInUse } from '../../src/store/lmdb/store-lock.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const rejectionOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

const eventOf = (n: number, payload = `{"n":${n}}`): StoredEvent => ({ n, check: 'disk', payload });

describe('the queue on disk', () => {
  let directory: TemporaryDirectory;
  let clock: ManualClock;
  let queue: DiskQueue;

  const open = (): Promise<DiskQueue> => DiskQueue.open(join(directory.path, 'queue'), clock, 0);
  const write = (puts: StoredEvent[], removed: number[] = []): Promise<void> =>
    queue.write({ puts, removed, reserves: false });
  const stored = (): unknown[] => [...queue.index()];

  beforeEach(async () => {
    directory = await temporaryDirectory();
    clock = new ManualClock();
    queue = await open();
  });
  afterEach(async () => {
    await queue.close();
    await directory.remove();
  });

  it('returns the written events by number after it is reopened', async () => {
    await write([eventOf(2), eventOf(1), { n: 3, check: 'a\nb "c"', payload: 'x\ny' }]);
    await write([eventOf(9e15)], [2]);
    await queue.close();
    queue = await open();
    expect(stored()).to.deep.equal([
      { n: 1, entry: { check: 'disk', bytes: 7 } },
      { n: 3, entry: { check: 'a\nb "c"', bytes: 3 } },
      { n: 9e15, entry: { check: 'disk', bytes: 22 } },
    ]);
    expect(queue.read(3)).to.equal('x\ny');
  });

  it('keeps its id and reserves numbers above all earlier ones', async () => {
    const { id } = queue;
    expect(queue.usedUpTo).to.equal(0);
    expect(queue.reservedUpTo).to.be.greaterThan(0);
    await queue.write({ puts: [], removed: [], reserves: true });
    const { reservedUpTo } = queue;
    await queue.close();
    queue = await open();
    expect(queue.id).to.equal(id);
    expect(queue.usedUpTo).to.equal(reservedUpTo);
    expect(queue.reservedUpTo).to.be.greaterThan(reservedUpTo);
  });

  it('has a new id when its directory is new', async () => {
    const { id } = queue;
    await queue.close();
    await rm(join(directory.path, 'queue'), { recursive: true });
    queue = await open();
    expect(queue.id).to.not.equal(id);
  });

  it('rejects a read of a damaged or missing record', async () => {
    await write([eventOf(1)]);
    expect(() => queue.read(7)).to.throw('event 7: checksum does not match');
  });

  it('is accessible to its owner only, even if the directory already existed', async () => {
    await queue.close();
    const path = join(directory.path, 'queue');
    await rm(path, { recursive: true });
    await mkdir(path);
    await chmod(path, 0o777);
    queue = await open();
    expect(statSync(path).mode & 0o777).to.equal(0o700);
  });

  it('belongs to one process at a time, and the next one waits for it', async () => {
    expect(await rejectionOf(open())).to.be.instanceOf(StoreInUse);
    const waiting = DiskQueue.open(join(directory.path, 'queue'), clock, 60_000);
    await clock.advance(10_000);
    await queue.close();
    await clock.advance(1_000);
    queue = await waiting;
    expect(stored()).to.deep.equal([]);
  });

  it('cannot be opened when its file is not a database', async () => {
    await queue.close();
    const path = join(directory.path, 'queue');
    await rm(path, { recursive: true });
    await mkdir(path);
    await writeFile(join(path, 'data.mdb'), 'this is no database'.repeat(1_000));
    expect(await rejectionOf(open())).to.be.instanceOf(CorruptRecord);
    await rm(path, { recursive: true });
    queue = await open();
  });

  it('is recreated with a small file and a new id when it is empty', async () => {
    const { id } = queue;
    const file = join(directory.path, 'queue', 'data.mdb');
    const numbers = Array.from({ length: 1_000 }, (_, index) => index + 1);
    await write(numbers.map((n) => eventOf(n, 'x'.repeat(20_000))));
    await queue.close();
    queue = await open();
    expect(queue.id).to.equal(id);
    await write([], numbers);
    await queue.close();
    expect(statSync(file).size).to.be.greaterThan(16 * 1024 * 1024);
    queue = await open();
    expect(statSync(file).size).to.be.lessThan(1024 * 1024);
    expect(queue.id).to.not.equal(id);
    expect(queue.usedUpTo).to.equal(0);
  });

  it('contains the result of its writes, whatever they are', async () => {
    const change = fc.record({
      puts: fc.array(fc.record({ n: fc.integer({ min: 1, max: 20 }), payload: fc.string() }), { maxLength: 5 }),
      removed: fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 5 }),
      reopens: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 8 }), async (changes) => {
        const expected = new Map<number, string>();
        await write(
          [],
          [...queue.index()].map(({ n }) => n),
        );
        for (const { puts, removed, reopens } of changes) {
          await write(
            puts.map(({ n, payload }) => eventOf(n, payload)),
            removed,
          );
          for (const { n, payload } of puts) expected.set(n, payload);
          for (const n of removed) expected.delete(n);
          if (!reopens) continue;
          await queue.close();
          queue = await open();
        }
        const numbers = [...queue.index()].map(({ n }) => n);
        expect(numbers).to.deep.equal([...expected.keys()].toSorted((a, b) => a - b));
        for (const n of numbers) expect(queue.read(n)).to.equal(expected.get(n));
      }),
      { numRuns: 20 },
    );
  });
});
