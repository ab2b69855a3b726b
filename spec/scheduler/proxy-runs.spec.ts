import { setImmediate as nextTick } from 'node:timers/promises';
import { expect } from 'chai';
import { type Explanation, ProxyRuns, type ProxyTarget } from '../../src/scheduler/proxy-runs.ts';
import type { ProxyRunRequested } from '../../src/store/commit/decision.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { RecordedLog } from '../support/recorded-log.ts';

const FULL = { reason: 'earlier runs not over', detail: 'too many requests of runs wait' };

describe('the proxy runs', () => {
  const runs = new ProxyRuns({
    select: ({ owner }) =>
      Promise.resolve({
        names: [owner.name],
        stopped: undefined,
        stoppedEntities: [],
        decided: 1,
        firstError: undefined,
      }),
    plan: () => ({ targets, gapMs: 0, waitsFirst: false }),
    request: () => ({ error: undefined, bytes: 1, durable: new Promise(() => undefined) }),
    explain: ({ namespace }, explanation) => explained.push([namespace, explanation]),
    clock: new ManualClock(),
    log: new RecordedLog(),
  });
  const explained: [string, Explanation][] = [];
  const targets: ProxyTarget[] = Array.from({ length: 400_000 }, () => ({ entity: 'e', agent: undefined }));

  async function begin(namespace: string, check: string): Promise<void> {
    const rest = { expressions: [], subscriptions: undefined, adhoc: false, atMs: 0, cause: { user: 'u' } };
    runs.announced({ type: 'proxy-run.requested', namespace, check, ...rest } satisfies ProxyRunRequested);
    await nextTick();
  }

  it('plan at most 900,000 requests of a namespace that are not made yet, and leave room for others', async () => {
    for (const check of ['a', 'b', 'c']) await begin('one', check);
    expect(explained).to.deep.equal([['one', FULL]]);
    await begin('other', 'a');
    expect(explained).to.have.length(1);
    runs.stop();
  });
});
