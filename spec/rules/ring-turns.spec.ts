import { expect } from 'chai';
import fc from 'fast-check';
import { type RingTurn, takeTurns } from '../../src/rules/ring-turns.ts';
import { readGolden } from '../support/golden-file.ts';

interface Row {
  what: string;
  members: string[];
  events?: string[];
  items?: number;
  ticks: (string | [string, string][])[];
  /** One more tick. */
  oursNext?: [string, string][];
}

const { rows } = JSON.parse(readGolden('schedule/ring.json')) as { rows: Row[] };
const agentsOf = (tick: Row['ticks'][number]): string[] =>
  typeof tick === 'string' ? [tick] : tick.map(([agent]) => agent);

class Ring {
  members: string[];
  #turn: RingTurn | undefined;

  constructor(...members: string[]) {
    this.members = members;
  }

  tick(items = 1): string[] {
    const { taken, turn } = takeTurns(this.members, this.#turn, items);
    this.#turn = turn;
    return taken;
  }
}

describe('the turns of a ring', () => {
  for (const { what, members, items, ticks, oursNext } of rows.filter(
    (row) => row.items !== undefined && row.events === undefined,
  )) {
    it(`are as recorded: ${what}`, () => {
      const ring = new Ring(...members);
      for (const tick of oursNext === undefined ? ticks : [...ticks, oursNext])
        expect(ring.tick(items)).to.deep.equal(agentsOf(tick));
    });
  }

  it('go on with the name after one that is gone, and serve who came between in order', () => {
    const recorded = rows.find((row) => row.events !== undefined)?.ticks.map((tick) => agentsOf(tick)[0]);
    const ring = new Ring('a', 'b', 'c');
    expect([ring.tick(), ring.tick()]).to.deep.equal([['a'], ['b']]);
    ring.tick();
    ring.members = ['a', 'c'];
    const ticks = [ring.tick(), ring.tick(), ring.tick()];
    ring.members = ['a', 'aa', 'c'];
    for (let n = 0; n < 5; n += 1) ticks.push(ring.tick());
    expect(ticks.flat()).to.deep.equal(recorded);
  });

  it('skip the one that is gone when it was next', () => {
    const ring = new Ring('a', 'b', 'c');
    ring.tick();
    ring.members = ['a', 'c'];
    expect(ring.tick()).to.deep.equal(['c']);
  });

  it('begin anew with another number of turns for each tick, and when the ring was empty', () => {
    const ring = new Ring('a', 'b', 'c');
    ring.tick(2);
    expect(ring.tick(1)).to.deep.equal(['a']);
    ring.tick();
    ring.members = [];
    expect(ring.tick()).to.deep.equal([]);
    ring.members = ['a', 'b', 'c'];
    expect(ring.tick()).to.deep.equal(['a']);
  });

  it('come to each member equally often, within one, while none comes or goes', () => {
    const names = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,3}$/), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(names, fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 30 }), (members, items, ticks) => {
        const ring = new Ring(...members);
        const counts = new Map(members.map((name) => [name, 0]));
        for (let n = 0; n < ticks; n += 1) {
          for (const name of ring.tick(items)) counts.set(name, (counts.get(name) ?? 0) + 1);
        }
        const all = [...counts.values()];
        expect(Math.max(...all) - Math.min(...all)).to.be.at.most(1);
      }),
    );
  });
});
