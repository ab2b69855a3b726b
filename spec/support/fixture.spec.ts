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

    for (const turn of [1, 2]) {
      it(`is the same for all tests of a suite, or another for each: test ${turn}`, () => {
        expect([shared.raise(), own.raise()]).to.deep.equal([turn, 1]);
      });
    }

    it('takes what is written to it', () => {
      later.count = 7;
      expect(later.raise()).to.equal(8);
    });
  });

  describe('after its tests', () => {
    it('has ended, the youngest first', () => {
      const ofTests = [1, 2, 3].flatMap((turn) => [`by hand, after own ${turn}`, `own ${turn}`]);
      expect(ended).to.deep.equal([...ofTests, 'shared']);
    });

    it('is not there', () => {
      expect(() => past?.count).to.throw('a fixture is there only while tests run');
    });
  });
});
