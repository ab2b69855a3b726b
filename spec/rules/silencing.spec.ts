import { expect } from 'chai';
import fc from 'fast-check';
import { type Silenced, silencedName, silencedWithDefaults } from '../../src/resources/silenced.ts';
import {
  actsAt,
  isOver,
  nextChangeAtMs,
  type Silenceable,
  silencesOf,
  type SilencingOptions,
  stateAt,
} from '../../src/rules/silencing.ts';

const NOW_S = 1_000;
const BY_CHECK: SilencingOptions = { matchEntitySubscriptions: false };

const silenced = (fields: Parameters<typeof silencedWithDefaults>[0]): Silenced =>
  silencedWithDefaults({ begin: 1, ...fields });

/** Returns the names of the entries that apply to the event. */
function namesOn(event: Silenceable, entries: Silenced[], nowS: number, options: SilencingOptions): string[] {
  const byName = new Map(entries.map((entry) => [silencedName(entry), entry]));
  return silencesOf(event, (name) => byName.get(name), nowS, options).map(silencedName);
}

/** The rule of the specification, applied to one entry. */
function isSilencedBy(entry: Silenced, event: Silenceable, nowS: number, options: SilencingOptions): boolean {
  if (entry.begin > nowS || (entry.expire_at !== 0 && entry.expire_at < nowS)) return false;
  const matches = (subscription: string): boolean =>
    [undefined, '*', subscription].includes(entry.subscription) && [undefined, '*', event.check].includes(entry.check);
  if (matches(`entity:${event.entity}`)) return true;
  if (event.isProxied || options.matchEntitySubscriptions) return event.entitySubscriptions.some(matches);
  return event.checkSubscriptions.some((one) => event.entitySubscriptions.includes(one) && matches(one));
}

const web: Silenceable = {
  entity: 'web-1',
  entitySubscriptions: ['linux', 'web', 'entity:web-1'],
  check: 'disk',
  checkSubscriptions: ['linux'],
  isProxied: false,
};

describe('the silences of an event', () => {
  const cases: [string, Parameters<typeof silencedWithDefaults>[0], Partial<Silenceable>, boolean][] = [
    ['on its entity and check', { subscription: 'entity:web-1', check: 'disk' }, {}, true],
    ['on its entity', { subscription: 'entity:web-1' }, {}, true],
    ['on all checks of its entity', { subscription: 'entity:web-1', check: '*' }, {}, true],
    ['on another entity', { subscription: 'entity:web-10' }, {}, false],
    ['on its check', { check: 'disk' }, { checkSubscriptions: [] }, true],
    ['on a check whose name begins alike', { check: 'disk-io' }, {}, false],
    ['on everything', { subscription: '*' }, { checkSubscriptions: [] }, true],
    ['on a subscription of both', { subscription: 'linux' }, {}, true],
    ['on a subscription of both, and another check', { subscription: 'linux', check: 'load' }, {}, false],
    ['on a subscription of the entity alone', { subscription: 'web' }, {}, false],
    ['on a subscription of the check alone', { subscription: 'mail' }, { checkSubscriptions: ['mail'] }, false],
    ['on a subscription, of a keepalive', { subscription: 'linux' }, { checkSubscriptions: [] }, false],
    ['on a subscription of the proxied entity', { subscription: 'web' }, { isProxied: true }, true],
    [
      'with the same name but another position of the colon',
      { subscription: 'entity', check: 'web-1:disk' },
      {},
      false,
    ],
  ];
  for (const [what, entry, changes, isActing] of cases) {
    it(`${isActing ? 'include' : 'do not include'} one ${what}`, () => {
      expect(namesOn({ ...web, ...changes }, [silenced(entry)], NOW_S, BY_CHECK)).to.have.length(isActing ? 1 : 0);
    });
  }

  it('include those on any subscription of the entity when the option is set', () => {
    const entries = [silenced({ subscription: 'web' }), silenced({ subscription: 'mail' })];
    expect(namesOn(web, entries, NOW_S, { matchEntitySubscriptions: true })).to.deep.equal(['web:*']);
  });

  it('are sorted by name', () => {
    const entries = ['web', 'linux', 'entity:web-1', '*'].map((subscription) => silenced({ subscription }));
    const names = namesOn(web, entries, NOW_S, { matchEntitySubscriptions: true });
    expect(names).to.deep.equal(['*:*', 'entity:web-1:*', 'linux:*', 'web:*']);
  });

  it('follow the rule, whatever the entries and the event', () => {
    const subscription = fc.constantFrom('linux', 'web', 'entity', 'entity:a', 'entity:b', 'a');
    const check = fc.constantFrom('disk', 'load', 'a', 'a:disk', 'b:a:disk', 'keepalive');
    const orAny = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(fc.oneof(arbitrary, fc.constant('*')), { nil: null });
    const time = fc.integer({ min: NOW_S - 2, max: NOW_S + 2 });
    const entry = fc
      .record({
        subscription: orAny(subscription),
        check: orAny(check),
        begin: time,
        expire_at: fc.oneof(fc.constant(0), time),
      })
      .map(silencedWithDefaults);
    const event = fc.record({
      entity: fc.constantFrom('a', 'b', 'c'),
      entitySubscriptions: fc.array(subscription),
      check,
      checkSubscriptions: fc.array(subscription),
      isProxied: fc.boolean(),
    });
    const options = fc.record({ matchEntitySubscriptions: fc.boolean() });
    const entries = fc.uniqueArray(entry, { selector: silencedName, maxLength: 30 });
    fc.assert(
      fc.property(entries, event, options, (stored, received, asked) => {
        const expected = stored.filter((one) => isSilencedBy(one, received, NOW_S, asked)).map(silencedName);
        expect(namesOn(received, stored, NOW_S, asked)).to.have.members(expected);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('the times of a silence', () => {
  const entry = { begin: 100, expire_at: 110 };

  const moments: [number, boolean][] = [
    [99, false],
    [100, true],
    [110, true],
    [111, false],
  ];
  for (const [nowS, acts] of moments) {
    it(`${acts ? 'include' : 'exclude'} the second ${nowS} of an entry from 100 to 110`, () => {
      expect(actsAt(entry, nowS)).to.equal(acts);
    });
  }

  it('have no end without expire_at', () => {
    expect(actsAt({ begin: 100, expire_at: 0 }, Number.MAX_SAFE_INTEGER)).to.equal(true);
    expect(nextChangeAtMs({ begin: 100, expire_at: 0, state: 'active' })).to.equal(undefined);
  });

  it('never apply when the end is before the start', () => {
    for (let nowS = 98; nowS < 104; nowS += 1) expect(actsAt({ begin: 102, expire_at: 99 }, nowS)).to.equal(false);
  });

  it('change exactly when the entry starts or stops to apply', () => {
    const at = (ms: number) => Math.floor(ms / 1_000);
    const beginMs = nextChangeAtMs({ ...entry, state: 'pending' }) ?? 0;
    expect([actsAt(entry, at(beginMs - 1)), actsAt(entry, at(beginMs))]).to.deep.equal([false, true]);
    expect([stateAt(entry, at(beginMs - 1)), stateAt(entry, at(beginMs))]).to.deep.equal(['pending', 'active']);
    const overMs = nextChangeAtMs({ ...entry, state: 'active' }) ?? 0;
    expect([actsAt(entry, at(overMs - 1)), actsAt(entry, at(overMs))]).to.deep.equal([true, false]);
    expect([isOver(entry, at(overMs - 1)), isOver(entry, at(overMs))]).to.deep.equal([false, true]);
  });
});
