import { expect } from 'chai';
import { CORE, type Route } from '../../../src/http/request/route.ts';
import { ApiUnderTest } from '../../http/api-under-test.ts';
import { CountingStore } from '../../support/counting-store.ts';
import { perSuite } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { HOST, NAMESPACE, RARE, type StoredKind, storeObjects } from '../../support/stored-objects.ts';

const FEW = 1_100;
const MANY = 6_000;
/** The length of the lists, one for each way to build a list: searching one to its end takes time. */
const SEARCHED = ['events', 'entities', 'silenced', 'checks'].map((kind) => `${CORE}/${kind}`);
const LIMIT = 100;
/** An entity has two records. */
const RECORDS_OF_AN_OBJECT = 2;
/** The user, its rights, the number of entities and the end of the page. */
const READS_BESIDE = 20;
/** The objects that are examined in one turn of the event loop; the first two parts of an answer take one turn. */
const OBJECTS_IN_ONE_TURN = 2 * 64;
/** Kinds that have only a name. */
const WITHOUT_LABELS = ['users', 'namespaces'];

/** Every list of the API with pages and selectors. */
async function pagedLists(): Promise<string[]> {
  const under = await ApiUnderTest.start();
  const { routes } = under.api;
  await under.stop();
  const isPaged = ({ method, path, description }: Route): boolean =>
    method === 'GET' && path.startsWith(CORE) && description.answers[200]?.headers?.includes('Sensu-Continue') === true;
  return routes.filter(isPaged).map(({ path }) => path.replace(':namespace', NAMESPACE).replace(':entity', HOST));
}

const kindOf = (path: string): StoredKind =>
  path.includes('/events') ? 'events' : (path.slice(path.lastIndexOf('/') + 1) as StoredKind);
const hasLabels = (path: string): boolean => !WITHOUT_LABELS.includes(kindOf(path));

interface Page {
  reads: number;
  items: number;
  token: string | undefined;
}

describe('a page of a list', () => {
  let store: CountingStore;
  const backend = perSuite(() => InProcessBackend.start({ through: (inner) => (store = new CountingStore(inner)) }));
  const api = perSuite(() => backend.login());
  let paths: string[];
  /** The cost of pages while there were few objects, by path. */
  let first: Record<string, number>;
  let selected: Record<string, number>;

  before(async () => {
    paths = await pagedLists();

    // The rights are read once.
    await api.get(`${CORE}/events`);
    await grow(0, FEW);
    [first, selected] = [await costs(paths, twoPages), await costs(paths.filter(hasLabels), rarePage)];
    await grow(FEW, 2 * FEW);
    await grow(2 * FEW, MANY, SEARCHED);
  });

  async function grow(from: number, to: number, lists = [...paths, ...SEARCHED]): Promise<void> {
    for (const kind of new Set(lists.map(kindOf))) await storeObjects(backend.store, kind, { from, to });
  }

  async function page(path: string, query: Record<string, string>): Promise<Page> {
    const before = store.reads;
    const { status, headers, json, text } = await api.get(`${path}?${new URLSearchParams(query).toString()}`);
    expect(status, text).to.equal(200);
    const token = headers['sensu-continue'];
    return { reads: store.reads - before, items: (json as unknown[]).length, token: token as string | undefined };
  }

  async function twoPages(path: string): Promise<number> {
    const begin = await page(path, { limit: String(LIMIT) });
    const next = await page(path, { limit: String(LIMIT), continue: begin.token ?? '' });
    expect([begin.items, next.items], path).to.deep.equal([LIMIT, LIMIT]);
    return begin.reads + next.reads;
  }

  /** Up to the second of the rare objects. */
  async function rarePage(path: string): Promise<number> {
    const { reads, items } = await page(path, { limit: '2', labelSelector: 'rare == yes' });
    expect(items, path).to.equal(2);
    return reads;
  }

  async function costs(
    of: readonly string[],
    cost: (path: string) => Promise<number>,
  ): Promise<Record<string, number>> {
    const found: Record<string, number> = {};
    for (const path of of) found[path] = await cost(path);
    return found;
  }

  it('costs the same for a list of any length', async () => {
    expect(await costs(paths, twoPages)).to.deep.equal(first);
  });

  it('costs the objects that it shows and the keys up to its end', () => {
    const atMost = 2 * ((RECORDS_OF_AN_OBJECT + 1) * LIMIT + READS_BESIDE);
    for (const [path, reads] of Object.entries(first)) expect(reads, path).to.be.within(2 * LIMIT, atMost);
  });

  it('of rare objects costs the keys up to its last object, and none after it', async () => {
    expect(await costs(paths.filter(hasLabels), rarePage)).to.deep.equal(selected);
    for (const [path, reads] of Object.entries(selected)) {
      expect(reads, path).to.be.within(2 * RARE, (RECORDS_OF_AN_OBJECT + 1) * 2 * (2 * RARE));
    }
  });

  for (const limit of [LIMIT, 0]) {
    it(`without any match is searched in slices${limit === 0 ? ', without a limit too' : ''}`, async () => {
      for (const path of SEARCHED) {
        store.maxReadsPerTick = 0;
        const { reads, items } = await page(path, { limit: String(limit), labelSelector: 'rare == never' });
        expect([items, reads >= MANY], path).to.deep.equal([0, true]);
        expect(store.maxReadsPerTick, path).to.be.at.most(
          (RECORDS_OF_AN_OBJECT + 1) * OBJECTS_IN_ONE_TURN + READS_BESIDE,
        );
      }
    });
  }
});
