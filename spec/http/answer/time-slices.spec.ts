import { expect } from 'chai';
import { CollectedPage } from '../../../src/http/answer/collected-page.ts';
import { jsonArray } from '../../../src/http/answer/json-array.ts';
import { TimeSlices } from '../../../src/http/answer/time-slices.ts';

/** Keeps the processor busy. */
function work(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

function* slowItems(count: number, each: { ms: number }): Generator<object> {
  for (let n = 0; n < count; n += 1) {
    work(each.ms);
    yield { n };
  }
}

describe('a slice of work', () => {
  it('serves other requests once its time is over', async () => {
    const slices = new TimeSlices(1);
    let isServed = false;
    setImmediate(() => (isServed = true));
    work(2);
    await slices.pause();
    expect(isServed).to.equal(true);
  });
});

describe('a list of items that take long to read', () => {
  for (const [what, isShown] of Object.entries({ shown: true, skipped: false })) {
    it(`has a part for each of them, which are ${what}, so that others are served in between`, () => {
      const list = jsonArray(slowItems(4, { ms: 40 }), () => isShown);
      const parts = typeof list === 'string' ? [list] : [...list];
      expect(parts).to.have.length(5);
      expect(parts.join('')).to.equal(isShown ? '[{"n":0},{"n":1},{"n":2},{"n":3}]' : '[]');
    });
  }
});

describe('a collected page', () => {
  it('is full at 4 MiB', () => {
    const page = new CollectedPage<{ text: string }>();
    while (!page.isFull && page.items.length < 10) page.add({ text: 'x'.repeat(2 ** 20) });
    expect(page.items).to.have.length(4);
  });
});
