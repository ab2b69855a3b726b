import { expect } from 'chai';
import fc from 'fast-check';
import { listAnswer } from '../../../src/http/answer/pagination.ts';
import { type List, selectedPage } from '../../../src/http/answer/selected-page.ts';
import { CONFIGURATION_KINDS } from '../../../src/resources/configuration-kinds.ts';
import type { PageRequest } from '../../../src/store/page.ts';

const HOOKS = CONFIGURATION_KINDS.hooks.selectable;

interface Named {
  metadata: { name: string; labels: { chosen: string } };
}

/** The names sort by index, like the keys of a store. */
const named = (index: number, chosen: boolean): Named => ({
  metadata: { name: `n${String(index).padStart(6, '0')}`, labels: { chosen: String(chosen) } },
});

/** A list like that of the store. It counts the objects that are read. */
class CountedList {
  read = 0;
  readonly #items: Named[];

  constructor(items: Named[]) {
    this.#items = items;
  }

  readonly list: List<Named> = ({ limit, from = '' }: PageRequest) => {
    const rest = this.#items.filter(({ metadata }) => metadata.name >= from);
    const items = rest.slice(0, limit);
    return {
      items: this.#counting(items),
      lastKey: items.length < rest.length ? items.at(-1)?.metadata.name : undefined,
    };
  };

  *#counting(items: Named[]): Generator<Named, void> {
    for (const item of items) {
      this.read += 1;
      yield item;
    }
  }

  delete(name: string): void {
    this.#items.splice(
      this.#items.findIndex(({ metadata }) => metadata.name === name),
      1,
    );
  }
}

interface Shown {
  names: string[];
  token: string | undefined;
}

async function page(list: List<Named>, limit: number, token: string | undefined): Promise<Shown> {
  const query = new URLSearchParams({ labelSelector: 'chosen == true', limit: String(limit) });
  if (token !== undefined) query.set('continue', token);
  const { items, lastKey, isSelected } = await selectedPage(HOOKS, { query, isDisconnected: () => false }, list);
  const { body = '', headers } = listAnswer(items, lastKey, isSelected);
  const shown = JSON.parse(typeof body === 'string' ? body : [...body].join('')) as Named[];
  return { names: shown.map(({ metadata }) => metadata.name), token: headers?.['Sensu-Continue'] };
}

async function allPages(list: List<Named>, limit: number): Promise<string[][]> {
  const pages: string[][] = [];
  for (let token: string | undefined, isFirst = true; isFirst || token !== undefined; isFirst = false) {
    const shown = await page(list, limit, token);
    pages.push(shown.names);
    token = shown.token;
  }
  return pages;
}

describe('the pages of a list with a selector', () => {
  it('show each selected object once, in order, and are full except for the last page', async () => {
    const items = fc.array(fc.boolean(), { maxLength: 300 });
    await fc.assert(
      fc.asyncProperty(items, fc.integer({ min: 1, max: 80 }), async (chosen, limit) => {
        const objects = chosen.map((isChosen, index) => named(index, isChosen));
        const pages = await allPages(new CountedList(objects).list, limit);
        const wanted = objects.filter((_, index) => chosen[index]).map(({ metadata }) => metadata.name);
        expect(pages.flat()).to.deep.equal(wanted);
        for (const names of pages.slice(0, -1)) expect(names).to.have.length(limit);
      }),
      { numRuns: 50 },
    );
  });

  it('read twice the objects up to their last one, and not the whole list', async () => {
    const counted = new CountedList(Array.from({ length: 20_000 }, (_, index) => named(index, index % 10 === 9)));
    expect((await page(counted.list, 5, undefined)).names).to.have.length(5);
    expect(counted.read).to.equal(100);
  });

  it('continue after objects that are deleted between two pages', async () => {
    const counted = new CountedList(Array.from({ length: 10 }, (_, index) => named(index, index % 2 === 0)));
    const { names, token } = await page(counted.list, 2, undefined);
    expect(names).to.deep.equal(['n000000', 'n000002']);
    for (const name of ['n000002', 'n000004']) counted.delete(name);
    expect((await page(counted.list, 2, token)).names).to.deep.equal(['n000006', 'n000008']);
  });

  it('leave the event loop free while no object is selected', async () => {
    const counted = new CountedList(Array.from({ length: 1_000 }, (_, index) => named(index, false)));
    let ticks = 0;
    let isOver = false;
    const count = (): void => {
      ticks += 1;
      if (!isOver) setImmediate(count);
    };
    count();
    await page(counted.list, 1, undefined);
    isOver = true;
    expect(ticks).to.be.greaterThan(10);
  });

  it('are not searched any further when the client has disconnected', async () => {
    const counted = new CountedList(Array.from({ length: 10_000 }, (_, index) => named(index, false)));
    const query = new URLSearchParams({ labelSelector: 'chosen == true', limit: '1' });
    const isDisconnected = () => counted.read >= 640;
    const { items, isSelected } = await selectedPage(HOOKS, { query, isDisconnected }, counted.list);
    expect([...items].filter((item) => isSelected?.(item))).to.deep.equal([]);
    expect(counted.read).to.equal(641);
  });

  it('are streamed in parts when there is no limit, however few objects are shown', async () => {
    const { list } = new CountedList(Array.from({ length: 1_000 }, (_, index) => named(index, index === 999)));
    const query = new URLSearchParams({ labelSelector: 'chosen == true' });
    const { items, lastKey, isSelected } = await selectedPage(HOOKS, { query, isDisconnected: () => false }, list);
    const { body = '' } = listAnswer(items, lastKey, isSelected);
    const parts = typeof body === 'string' ? [body] : [...body];
    expect(parts.length).to.be.greaterThan(3);
    expect(JSON.parse(parts.join(''))).to.deep.equal([named(999, true)]);
  });
});
