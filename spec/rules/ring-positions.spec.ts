import { expect } from 'chai';
import fc from 'fast-check';
import { type RingPosition, takeMembers } from '../../src/rules/ring-positions.ts';
import { readGolden } from '../support/golden-file.ts';

interface Recording {
  what: string;
  members: string[];
  events?: string[];
  items?: number;
  ticks: (string | [string, string][])[];
  /** Selects the members of one more tick. */
  oursNext?: [string, string][];
}

const { rows } = JSON.parse(readGolden('schedule/ring.json')) as { rows: Recording[] };
const agentsOf = (tick: Recording['ticks'][number]): string[] =>
  typeof tick === 'string' ? [tick] : tick.map(([agent]) => agent);

class Ring {
  members: string[];
  #position: RingPosition | undefined;

  constructor(...members: string[]) {
    this.members = members;
  }

  tick(items = 1): string[] {
    const { taken, position } = takeMembers(this.members, this.#position, items);
    this.#position = position;
    return taken;
  }
}

describe('takeMembers', () => {
  for (const { what, members, items, ticks, oursNext } of rows.filter(
    (recording) => recording.items !== undefined && recording.events === undefined,
  )) {
    it(`selects the recorded members: ${what}`, () => {
      const ring = new Ring(...members);
      for (const tick of oursNext === undefined ? ticks : [...ticks, oursNext])
        expect(ring.tick(items)).to.deep.equal(agentsOf(tick));
    });
  }

  it('continues after a member that has left, and inserts new members in order', () => {
    const recorded = rows.find((recording) => recording.events !== undefined)?.ticks.map((tick) => agentsOf(tick)[0]);
    const ring = new Ring('a', 'b', 'c');
    expect([ring.tick(), ring.tick()]).to.deep.equal([['a'], ['b']]);
    ring.tick();
    ring.members = ['a', 'c'];
    const ticks = [ring.tick(), ring.tick(), ring.tick()];
    ring.members = ['a', 'aa', 'c'];
    for (let n = 0; n < 5; n += 1) ticks.push(ring.tick());
    expect(ticks.flat()).to.deep.equal(recorded);
  });

  it('skips the next member when it has left', () => {
    const ring = new Ring('a', 'b', 'c');
    ring.tick();
    ring.members = ['a', 'c'];
    expect(ring.tick()).to.deep.equal(['c']);
  });

  it('starts again with another number of items, and after the ring was empty', () => {
    const ring = new Ring('a', 'b', 'c');
    ring.tick(2);
    expect(ring.tick(1)).to.deep.equal(['a']);
    ring.tick();
    ring.members = [];
    expect(ring.tick()).to.deep.equal([]);
    ring.members = ['a', 'b', 'c'];
    expect(ring.tick()).to.deep.equal(['a']);
  });

  it('selects all members equally often, within one, while the ring does not change', () => {
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
