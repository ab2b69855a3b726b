import { expect } from 'chai';
import type { DecisionContext } from '../../../src/actors/core/decision-context.ts';
import { planProxyRun } from '../../../src/actors/schedules/proxy-requests.ts';
import { parseCheckShape } from '../../../src/resources/check.ts';
import { Decision, type ProxyRunRequested } from '../../../src/store/commit/decision.ts';
import { resourceKey } from '../../../src/store/encoding/keyspace.ts';

const NOTHING = { get: () => undefined, keys: () => new Set<string>() };
const names = (count: number): string[] => Array.from({ length: count }, (_, n) => `n${n}`);

describe('the plan of a proxy run', () => {
  const run: ProxyRunRequested = {
    type: 'proxy-run.requested',
    namespace: 'default',
    check: 'c',
    expressions: [],
    subscriptions: undefined,
    adhoc: false,
    atMs: 0,
    cause: { user: 'u' },
  };

  function plan(rings: number, entities: number) {
    const decision = new Decision(NOTHING);
    const metadata = { name: 'c', namespace: 'default' };
    const check = { metadata, interval: 60, round_robin: true, subscriptions: names(rings), proxy_requests: {} };
    decision.put('resources', resourceKey('checks', 'default', 'c'), parseCheckShape(check));
    const sent: unknown[] = [];
    const ctx = {
      decision,
      nowMs: 0,
      put: decision.put.bind(decision),
      isQuarantined: () => false,
      send: (_kind: string, _key: string, event: unknown) => sent.push(event),
    } as unknown as DecisionContext;
    const { targets } = planProxyRun(ctx, { members: () => ['agent'] }, run, names(entities));
    return { count: targets.length, sent };
  }

  it('has a request for each entity and ring, up to 100,000', () => {
    expect(plan(10, 10_000)).to.deep.equal({ count: 100_000, sent: [] });
    expect(plan(1, 100_001)).to.deep.equal({ count: 100_001, sent: [] });
  });

  it('is empty and explained when several rings need more requests', () => {
    const detail = '1000 rings and 5000 entities need more than 100000 requests';
    const sent = [{ type: 'tick.skipped', atMs: 0, reason: 'too long', detail }];
    expect(plan(1_000, 5_000)).to.deep.equal({ count: 0, sent });
  });
});
