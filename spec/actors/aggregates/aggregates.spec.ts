import { expect } from 'chai';
import { Aggregates } from '../../../src/actors/aggregates/aggregates.ts';
import { RecordedLog } from '../../support/recorded-log.ts';

const NOW_S = 1_000;

/** Joins, as decisions announce it. */
function join(aggregates: Aggregates, key: string, after: string[], status: number, executedS = NOW_S): void {
  aggregates.announced({ type: 'aggregates.changed', key, before: [], after, status, executedS });
}

describe('the aggregates', () => {
  let log: RecordedLog;
  let aggregates: Aggregates;

  beforeEach(() => {
    log = new RecordedLog();
    aggregates = new Aggregates(log);
    join(aggregates, 'default/web-2/disk', ['web'], 2, NOW_S - 50);
    join(aggregates, 'default/web-1/http', ['web', 'edge'], 0);
    join(aggregates, 'default/web-1/disk', ['web'], 127, NOW_S - 100);
    join(aggregates, 'berlin/web-1/disk', ['web'], 1);
  });

  it('count the entities, checks and results of their members', () => {
    expect(aggregates.summary('default', 'web')).to.deep.equal({
      clients: 2,
      checks: 2,
      results: { ok: 1, warning: 0, critical: 1, unknown: 1, total: 3, stale: 0 },
    });
  });

  it('are separate in each namespace', () => {
    expect(aggregates.names('default')).to.deep.equal(['edge', 'web']);
    expect(aggregates.names('berlin')).to.deep.equal(['web']);
    expect(aggregates.names('other')).to.deep.equal([]);
  });

  for (const [maxAgeS, results] of [
    [100, { ok: 1, warning: 0, critical: 1, unknown: 1, total: 3, stale: 0 }],
    [99, { ok: 1, warning: 0, critical: 1, unknown: 0, total: 2, stale: 1 }],
    [0, { ok: 1, warning: 0, critical: 0, unknown: 0, total: 1, stale: 2 }],
  ] as const) {
    it(`leave out results that are older than ${maxAgeS} s, and count them as stale`, () => {
      const summary = aggregates.summary('default', 'web', { maxAgeS, nowS: NOW_S });
      expect(summary).to.deep.equal({ clients: 2, checks: 2, results });
    });
  }

  it('list entities with their checks and checks with their entities, in order', () => {
    expect(aggregates.clients('default', 'web')).to.deep.equal([
      { name: 'web-1', checks: ['disk', 'http'] },
      { name: 'web-2', checks: ['disk'] },
    ]);
    expect(aggregates.checks('default', 'web')).to.deep.equal([
      { name: 'disk', clients: ['web-1', 'web-2'] },
      { name: 'http', clients: ['web-1'] },
    ]);
  });

  it('list the members with a severity that are not stale', () => {
    const named = (severity: 'ok' | 'unknown' | 'warning', maxAgeS = 1_000) =>
      aggregates
        .members('default', 'web', severity, { maxAgeS, nowS: NOW_S })
        ?.map(({ entity, check }) => `${entity}/${check}`);
    expect(named('ok')).to.deep.equal(['web-1/http']);
    expect(named('unknown')).to.deep.equal(['web-1/disk']);
    expect(named('unknown', 99)).to.deep.equal([]);
    expect(named('warning')).to.deep.equal([]);
  });

  it('replace the result of a member', () => {
    join(aggregates, 'default/web-2/disk', ['web'], 0);
    expect(aggregates.summary('default', 'web')?.results).to.include({ ok: 2, critical: 0, total: 3 });
  });

  it('lose a member that joins others', () => {
    const left = { key: 'default/web-1/http', before: ['web', 'edge'], after: ['edge'], status: 1, executedS: NOW_S };
    aggregates.announced({ type: 'aggregates.changed', ...left });
    expect(aggregates.summary('default', 'web')).to.include({ clients: 2, checks: 1 });
    expect(aggregates.summary('default', 'edge')?.results).to.include({ warning: 1, total: 1 });
  });

  it('do not exist without members', () => {
    const left = { key: 'berlin/web-1/disk', before: ['web'], after: [], status: 1, executedS: NOW_S };
    aggregates.announced({ type: 'aggregates.changed', ...left });
    expect(aggregates.names('berlin')).to.deep.equal([]);
    expect(aggregates.summary('berlin', 'web')).to.equal(undefined);
    expect(aggregates.clients('berlin', 'web')).to.equal(undefined);
    expect(aggregates.has('berlin', 'web')).to.equal(false);
    expect([aggregates.size.aggregates.used, aggregates.size.members.used]).to.deep.equal([2, 4]);
  });

  it('refuse further names of a namespace at 45,000, with one warning, and leave room for other namespaces', () => {
    const { used } = aggregates.size.aggregates;
    for (let n = 0; n < 50; n += 1) {
      const names = Array.from({ length: 1_000 }, (_, index) => `a-${n}-${index}`);
      join(aggregates, `flood/web-${n}/disk`, names, 0);
    }
    expect(aggregates.names('flood')).to.have.length(45_000);
    const { used: after, limit, refused } = aggregates.size.aggregates;
    expect([after - used, limit, refused]).to.deep.equal([45_000, 50_000, 5_000]);
    expect(log.lines).to.have.length(1);
    expect(log.lines[0]?.fields).to.deep.equal({ namespace: 'flood', entity: 'web-45', aggregate: 'a-45-0' });
    join(aggregates, 'berlin/web-1/load', ['other'], 0);
    expect(aggregates.names('berlin')).to.deep.equal(['other', 'web']);
  });

  it('refuse further memberships of an entity at 10,000, and take others when it has left', () => {
    const member = (n: number): string => `flood/web-1/check-${n}`;
    for (let n = 0; n < 10_050; n += 1) join(aggregates, member(n), ['all'], 0);
    expect(aggregates.summary('flood', 'all')).to.deep.include({ checks: 10_000 });
    expect(aggregates.size.members.refused).to.equal(50);
    join(aggregates, member(0), ['all'], 2);
    expect(aggregates.summary('flood', 'all')?.results).to.include({ critical: 1, total: 10_000 });
    aggregates.announced({
      type: 'aggregates.changed',
      key: member(0),
      before: ['all'],
      after: [],
      status: 0,
      executedS: NOW_S,
    });
    join(aggregates, member(10_049), ['all'], 0);
    expect(aggregates.summary('flood', 'all')).to.deep.include({ checks: 10_000 });
    expect(aggregates.size.members.refused).to.equal(50);
  });

  it('lose the members that a deletion hides', () => {
    aggregates.announced({ type: 'deletion.pending', kind: 'events', prefix: 'default/web-1/' });
    expect(aggregates.names('default')).to.deep.equal(['web']);
    expect(aggregates.clients('default', 'web')).to.deep.equal([{ name: 'web-2', checks: ['disk'] }]);
    aggregates.announced({ type: 'deletion.pending', kind: 'events', prefix: 'default/' });
    expect(aggregates.names('default')).to.deep.equal([]);
    expect(aggregates.names('berlin')).to.deep.equal(['web']);
  });

  it('lose all members of a namespace that is deleted, and have room for new ones', () => {
    aggregates.announced({ type: 'deletion.pending', kind: 'events', prefix: 'default/' });
    expect(aggregates.names('default')).to.deep.equal([]);
    expect([aggregates.size.aggregates.used, aggregates.size.members.used]).to.deep.equal([1, 1]);
    // The deletion goes on in steps, each of which announces the events that it removes.
    aggregates.announced({
      type: 'aggregates.changed',
      key: 'default/web-1/http',
      before: ['web', 'edge'],
      after: [],
      status: 0,
      executedS: NOW_S,
    });
    join(aggregates, 'default/web-3/disk', ['web'], 0);
    expect([aggregates.size.aggregates.used, aggregates.size.members.used]).to.deep.equal([2, 2]);
  });

  it('have a history of an hour, with a sample every minute', () => {
    for (let atS = NOW_S; atS < NOW_S + 100 * 60; atS += 5) {
      if (atS === NOW_S + 99 * 60) join(aggregates, 'default/web-2/disk', ['web'], 0);
      aggregates.sample(atS);
    }
    const history = aggregates.history('default', 'web');
    expect(history.map(({ at }) => at)).to.deep.equal(
      Array.from({ length: 60 }, (_, index) => NOW_S + (40 + index) * 60),
    );
    expect(history.at(-2)).to.deep.include({ ok: 1, warning: 0, critical: 1, unknown: 1 });
    expect(history.at(-1)).to.deep.include({ ok: 2, warning: 0, critical: 0, unknown: 1 });
    expect(aggregates.history('default', 'none')).to.deep.equal([]);
  });

  describe('with many members', () => {
    const AGE = { maxAgeS: 100, nowS: NOW_S };
    const CLIENTS = 1_000;

    /** Members with statuses 0 to 3 that are 0 to 299 seconds old. */
    const withMembers = (count: number): Aggregates => {
      const large = new Aggregates(log);
      for (let index = 0; index < count; index += 1) {
        const key = `default/client-${index % CLIENTS}/check-${Math.floor(index / CLIENTS)}`;
        join(large, key, ['web'], index % 4, NOW_S - (index % 300));
      }
      return large;
    };

    it('count each of 20,000 once', () => {
      const large = withMembers(20_000);
      const countsOf = (isCounted: (ageS: number) => boolean): number[] => {
        const counted = Array.from({ length: 20_000 }, (_, index) => index).filter((index) => isCounted(index % 300));
        return [0, 1, 2, 3].map((status) => counted.filter((index) => index % 4 === status).length);
      };
      for (const [age, isCounted] of [
        [undefined, () => true],
        [AGE, (ageS: number) => ageS <= 100],
      ] as const) {
        const counts = countsOf(isCounted);
        const [ok, warning, critical, unknown] = counts;
        const total = counts.reduce((sum, count) => sum + count, 0);
        expect(large.summary('default', 'web', age)).to.deep.equal({
          clients: CLIENTS,
          checks: 20,
          results: { ok, warning, critical, unknown, total, stale: 20_000 - total },
        });
      }
    });

    it('take as many steps for a result, and for a summary, as with few', () => {
      const steps = [1_000, 20_000].map((count) => {
        const aggregates = withMembers(count);
        return {
          repeated: stepsOf(() => join(aggregates, 'default/client-1/check-0', ['web'], 2)),
          joined: stepsOf(() => join(aggregates, 'default/new/check-0', ['web'], 2)),
          summary: stepsOf(() => void aggregates.summary('default', 'web')),
        };
      });
      expect(steps[1]).to.deep.equal(steps[0]);
    });

    it('take one step a member for a summary with an age', () => {
      const [few, many] = [1_000, 20_000].map((count) => {
        const aggregates = withMembers(count);
        return stepsOf(() => void aggregates.summary('default', 'web', AGE)) - count;
      });
      expect(many).to.equal(few);
    });
  });
});

/** Returns how many steps in maps `act` takes: entries that are looked up, changed or read. */
function stepsOf(act: () => void): number {
  const iterators = Object.getPrototypeOf(new Map().values()) as object;
  const counted = [
    ...['get', 'set', 'has', 'delete'].map((name) => ({ owner: Map.prototype as object, name })),
    { owner: iterators, name: 'next' },
  ].map((method) => ({ ...method, original: Reflect.get(method.owner, method.name) as (this: unknown) => unknown }));
  let steps = 0;
  for (const { owner, name, original } of counted) {
    Reflect.set(owner, name, function (this: unknown, ...sent: unknown[]): unknown {
      steps += 1;
      return Reflect.apply(original, this, sent);
    });
  }
  try {
    act();
  } finally {
    for (const { owner, name, original } of counted) Reflect.set(owner, name, original);
  }
  return steps;
}
