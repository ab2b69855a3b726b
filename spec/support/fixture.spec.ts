import { expect } from 'chai';
import { perSuite, perTest } from './fixture.ts';

class Counter {
  readonly #ended: string[];
  readonly name: string;
  count = 0;

  constructor(name: string, ended: string[]) {
    this.#ended = ended;
    this.name = name;
  }

  raise(): number {
    this.count += 1;
    return this.count;
  }

  stop(): void {
    this.#ended.push(this.name);
  }
}

describe('a fixture', () => {
  const ended: string[] = [];
  let made = 0;
  let past: Counter | undefined;

  describe('while its tests run', () => {
    const shared = perSuite(() => new Counter('shared', ended));
    const own = perTest(() => new Counter(`own ${(made += 1)}`, ended));
    const later = perTest(
      () => new Counter(`after ${own.name}`, ended),
      ({ name }) => ended.push(`by hand, ${name}`),
    );

    past = own;

    for (const test of [1, 2]) {
      it(`is shared by a suite or created for each test: test ${test}`, () => {
        expect([shared.raise(), own.raise()]).to.deep.equal([test, 1]);
      });
    }

    it('forwards assignments to the object behind it', () => {
      later.count = 7;
      expect(later.raise()).to.equal(8);
    });
  });

  describe('after its tests', () => {
    it('has ended its objects, the newest first', () => {
      const ofTests = [1, 2, 3].flatMap((test) => [`by hand, after own ${test}`, `own ${test}`]);
      expect(ended).to.deep.equal([...ofTests, 'shared']);
    });

    it('throws when it is used', () => {
      expect(() => past?.count).to.throw('a fixture can be used only while its tests run');
    });
  });
});
