import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { emptyPuts } from '../../../src/store/commit/decision.ts';
import { LmdbStore } from '../../../src/store/lmdb/lmdb-store.ts';
import { walkPages } from '../../../src/store/pages/page-walk.ts';
import { RawStore } from '../../../src/store/lmdb/raw-store.ts';
import { SeededRandom } from '../../support/seeded-random.ts';
import { perSuite } from '../../support/fixture.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { FIXTURES, unpackFixture } from '../stored-fixtures.ts';
import { damageByte, damageFile, PAGE_BYTES } from './store-damage.ts';

const SURVIVOR = fileURLToPath(new URL('./survivor.ts', import.meta.url));
const DAMAGED_STORES = 120;
/** Starting a process takes as long as opening about a hundred stores. */
const STORES_PER_PROCESS = 200;
const HEADER_PAGES = 2;
const HEADER_BYTES = 160;
const PAGE_FLAGS_AT = 18;
const RECORDS = 4_000;
const ROUNDS = 40;

describe('the walk of the pages of a store', function () {
  this.timeout(120_000);
  const directory = perSuite(temporaryDirectory, (made) => made.remove());

  for (const fixture of FIXTURES) {
    it(`finds no damage in the store ${fixture.name}`, () => {
      const store = join(directory.path, fixture.name);
      unpackFixture(fixture, store);
      expect(walkPages(join(store, 'data.mdb'))).to.deep.include({ damaged: [] });
    });
  }

  /** A store with several levels of pages, values with pages of their own, and free pages. */
  async function largeStore(path: string, random: SeededRandom, eachRound: (store: LmdbStore) => void): Promise<void> {
    const store = new LmdbStore({ directory: path, sync: 'none' });
    for (let round = 0; round < ROUNDS; round += 1) {
      const puts = emptyPuts();
      for (let n = 0; n < RECORDS / ROUNDS; n += 1) {
        const key = `things/${random.below(RECORDS)}`;
        const size = random.oneIn(20) ? random.below(60_000) : random.below(500);
        puts.resources.set(key, random.oneIn(4) ? null : { text: 'x'.repeat(size) });
      }
      await store.write({ puts, ledger: [] });
      eachRound(store);
    }
    await store.close();
  }

  it('accounts for every page of a store while it is written: each one is in use or free, and none is both', async () => {
    const path = join(directory.path, 'large');
    const random = SeededRandom.fresh();
    const file = join(path, 'data.mdb');
    await largeStore(path, random, (store) => {
      const { bytes } = store.size();
      const reader = new RawStore({ directory: path, sync: 'none', readOnly: true });
      const { pages, freePages, damaged } = reader.duringRead(() => walkPages(file));
      void reader.close();
      expect(damaged, `seed ${random.seed}`).to.deep.equal([]);
      expect((HEADER_PAGES + pages + freePages) * 4_096, `seed ${random.seed}`).to.equal(bytes);
    });
  });

  it('finds what LMDB would crash on: what it does not find, LMDB reads and writes', async () => {
    const random = SeededRandom.fresh();
    const intact = join(directory.path, 'intact');
    await largeStore(intact, random, () => undefined);
    const damages = new Map<string, string>();
    for (let n = 0; n < DAMAGED_STORES; n += 1) {
      const path = join(directory.path, `damaged-${n}`);
      mkdirSync(path);
      const fixture = random.oneIn(3) ? FIXTURES[random.below(FIXTURES.length)] : undefined;
      if (fixture === undefined) cpSync(join(intact, 'data.mdb'), join(path, 'data.mdb'));
      else unpackFixture(fixture, path);
      damages.set(path, damageFile(join(path, 'data.mdb'), n, random));
    }
    const found = foundIn(damages, random.seed);
    expect(found).to.be.above(DAMAGED_STORES / 3);
  });

  /** Copies of a stored fixture, each with other bits of one byte changed. */
  function damagedCopies(changes: readonly { page: number; at: number; bits: number }[]): Map<string, string> {
    const fixture = FIXTURES.at(-1) ?? expect.fail('there is no fixture');
    return new Map(
      changes.map((change, n) => {
        const path = join(directory.path, `copy-${change.page}-${change.at}-${n}`);
        unpackFixture(fixture, path);
        return [path, damageByte(join(path, 'data.mdb'), change)];
      }),
    );
  }

  it('finds each damaged byte of the headers of the file on which LMDB would crash', () => {
    const random = SeededRandom.fresh();
    const places = [0, 1].flatMap((page) => Array.from({ length: HEADER_BYTES }, (_, at) => ({ page, at })));
    const damages = damagedCopies(places.map((place) => ({ ...place, bits: 1 + random.below(255) })));
    expect(foundIn(damages, random.seed)).to.be.above(0);
  });

  it('finds each damaged flag of a page on which LMDB would crash', () => {
    const [intact = ''] = damagedCopies([{ page: 0, at: 0, bits: 0 }]).keys();
    const pages = statSync(join(intact, 'data.mdb')).size / PAGE_BYTES;
    const changes = Array.from({ length: pages * 8 }, (_, n) => ({
      page: Math.floor(n / 8),
      at: PAGE_FLAGS_AT,
      bits: 1 << (n % 8),
    }));
    expect(foundIn(damagedCopies(changes), 0)).to.be.above(0);
  });
});

/** Opens damaged stores in processes of their own, and returns the number of those in which the walk found the damage. */
function foundIn(damages: ReadonlyMap<string, string>, seed: number): number {
  let found = 0;
  for (const paths of batches([...damages.keys()], STORES_PER_PROCESS)) {
    const { status, signal, output } = spawnSync(process.execPath, ['--import=tsx', SURVIVOR, ...paths], {
      encoding: 'utf8',
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    });
    const lines = (output[3] ?? '').trim().split('\n');
    const last = lines.at(-1)?.split(' ').at(-1) ?? '';
    expect([status, signal], `seed ${seed}: ${damages.get(last)}: ${output[2]}`).to.deep.equal([0, null]);
    found += lines.filter((line) => line.startsWith('found')).length;
  }
  return found;
}

const batches = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, n) => items.slice(n * size, (n + 1) * size));
