import { expect } from 'chai';
import { selectHandlers } from '../../src/rules/handler-selection.ts';

type Entry = { type: string; handlers: string[] | null };
const pipe: Entry = { type: 'pipe', handlers: null };
const set = (...handlers: string[]): Entry => ({ type: 'set', handlers });

function selected(names: string[], handlers: Record<string, Entry>): string[] {
  return selectHandlers(names, (name) => handlers[name]).selected.map(([name]) => name);
}

describe('the handlers of an event', () => {
  const cases: [string, string[], Record<string, Entry>, string[]][] = [
    ['are the handlers that it names', ['a'], { a: pipe }, ['a']],
    [
      'run in the order of names, capitals first',
      ['zeta', 'alpha', 'Mid'],
      { zeta: pipe, alpha: pipe, Mid: pipe },
      ['Mid', 'alpha', 'zeta'],
    ],
    ['run once, however often they are named', ['a', 'a', 's'], { a: pipe, s: set('a') }, ['a']],
    ['omit handlers that do not exist', ['a', 'none'], { a: pipe }, ['a']],
    ['replace their set', ['s'], { s: set('b', 'a'), a: pipe, b: pipe }, ['a', 'b']],
    ['replace a set in a set', ['s'], { s: set('t'), t: set('a'), a: pipe }, ['a']],
    [
      'omit a set three levels deep, but not its siblings',
      ['s'],
      { s: set('t'), t: set('u', 'c'), u: set('a'), a: pipe, c: pipe },
      ['c'],
    ],
    ['are found when sets name each other', ['s'], { s: set('t', 'a'), t: set('s'), a: pipe }, ['a']],
    ['are none for an empty set', ['s'], { s: set() }, []],
  ];
  for (const [what, names, handlers, expected] of cases) {
    it(what, () => {
      expect(selected(names, handlers)).to.deep.equal(expected);
    });
  }

  for (const [what, names, handlers, expected] of [
    ['an empty set', ['s'], { s: set() }, ['s']],
    ['an empty set beside another handler', ['s', 'a'], { s: set(), a: pipe }, ['s']],
    ['sets that name each other', ['s'], { s: set('t'), t: set('s') }, ['s']],
    ['an empty set in a set', ['s'], { s: set('a', 't'), t: set(), a: pipe }, ['t']],
    ['a set of an empty set', ['s'], { s: set('t'), t: set() }, ['s']],
  ] as [string, string[], Record<string, Entry>, string[]][]) {
    it(`are not silently left out for ${what}`, () => {
      const { unselected } = selectHandlers(names, (name) => handlers[name]);
      const reason = 'handler set leads to no handler';
      expect(unselected).to.deep.equal(expected.map((name) => ({ name, reason })));
    });
  }

  it('are found with one look-up for each set, however often sets name it', () => {
    let lookups = 0;
    const names = Array.from({ length: 50 }, (_, n) => `s${n}`);
    const handlers: Record<string, Entry> = { a: pipe };
    for (const name of names) handlers[name] = set(...names, 'a');
    const { selected: found } = selectHandlers([...names, ...names], (name) => {
      lookups += 1;
      return handlers[name];
    });
    expect(found.map(([name]) => name)).to.deep.equal(['a']);
    expect(lookups).to.equal(51);
  });

  it('are found on the shortest path when a longer one is too deep', () => {
    const handlers = { s: set('t'), t: set('u'), u: set('a'), a: pipe };
    expect(selected(['s', 'u'], handlers)).to.deep.equal(['a']);
  });

  it('that do not exist are reported one by one up to a hundred, and further ones together', () => {
    const names = Array.from({ length: 300 }, (_, n) => `h${n}`);
    const { unselected } = selectHandlers(names, () => undefined);
    const reason = 'handler does not exist';
    expect(unselected.slice(0, 100)).to.deep.equal(names.slice(0, 100).map((name) => ({ name, reason })));
    expect(unselected.slice(100)).to.deep.equal([{ name: 'h100', reason, others: names.slice(101) }]);
  });

  it('are limited to a thousand names: all further ones are named, and no more are looked up', () => {
    const names = Array.from({ length: 3_000 }, (_, n) => `h${n}`);
    const handlers: Record<string, Entry> = { s: set(...names, 't'), t: set('below', 'h0', 'h2999') };
    let lookups = 0;
    const { selected: found, unselected } = selectHandlers(['t', 's'], (name) => {
      lookups += 1;
      return handlers[name] ?? pipe;
    });
    expect(found).to.have.lengthOf(998);
    expect(lookups).to.equal(1_000);
    const [left, ...others] = unselected;
    expect(others).to.deep.equal([]);
    expect(left?.reason).to.equal(
      'an event leads to at most 1000 handlers and sets: this one and those after it are left out',
    );
    const named = new Set([...found.map(([name]) => name), left?.name, ...(left?.others ?? [])]);
    expect([...names, 'below'].filter((name) => !named.has(name))).to.deep.equal([]);
    expect(named.size).to.equal(3_001);
  });

  it('are named up to a bound when they are left out, and the reason says so', () => {
    const names = Array.from({ length: 100_000 }, (_, n) => `h${n}`);
    const { unselected } = selectHandlers(['s'], (name) => (name === 's' ? set(...names) : pipe));
    const [left] = unselected;
    expect(left?.name).to.equal('h999');
    expect(left?.others).to.have.lengthOf(9_999).and.include('h10998');
    expect(left?.reason).to.match(/are left out; only the first 10000 are named$/);
  });

  it('are found with a bounded number of reads when sets repeat the members of other sets', () => {
    const members = Array.from({ length: 900 }, (_, n) => `s${n}`);
    let read = 0;
    const counted = (list: string[]): string[] =>
      new Proxy(list, {
        get: (target, key) => {
          if (typeof key === 'string' && /^\d+$/.test(key)) read += 1;
          return Reflect.get(target, key) as unknown;
        },
      });
    const { unselected } = selectHandlers(['s0'], () => ({ type: 'set', handlers: counted(members) }));
    expect(unselected.at(-1)?.reason).to.match(/^an event leads to at most/);
    expect(read).to.be.at.most(22_000);
  });

  it('are returned with the names that select nothing, and the reasons', () => {
    const handlers: Record<string, Entry> = { s: set('t'), t: set('u'), u: set('a') };
    const { unselected } = selectHandlers(['none', 's'], (name) => handlers[name]);
    expect(unselected).to.deep.equal([
      { name: 'none', reason: 'handler does not exist' },
      { name: 'u', reason: 'handler sets cannot be deeply nested' },
    ]);
  });
});
