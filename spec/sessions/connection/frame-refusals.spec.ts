import { expect } from 'chai';
import { FrameRefusals } from '../../../src/sessions/connection/frame-refusals.ts';

const WEB = { namespace: 'default', agentName: 'web' };

describe('the record of refused messages', () => {
  it('counts by agent and namespace, with the last reason', () => {
    const refusals = new FrameRefusals();
    refusals.record(WEB, 'first', 1_000);
    refusals.record(WEB, 'second', 2_000);
    refusals.record({ ...WEB, namespace: 'dev' }, 'other', 3_000);
    expect(refusals.of(WEB)).to.deep.equal({ count: 2, lastAtMs: 2_000, lastReason: 'second' });
    expect(refusals.of({ ...WEB, agentName: 'db' })).to.equal(undefined);
  });

  it('distinguishes a new reason from a repeated one', () => {
    const refusals = new FrameRefusals();
    const isNew = ['a', 'a', 'b', 'b'].map((reason) => refusals.record(WEB, reason, 0));
    expect(isNew).to.deep.equal([true, false, true, false]);
  });

  it('reports ten new reasons a minute and counts all of them', () => {
    const refusals = new FrameRefusals();
    const reported = (atMs: number) =>
      Array.from({ length: 100 }, (_, n) => refusals.record(WEB, `${atMs}-${n}`, atMs)).filter(Boolean).length;
    expect([reported(0), reported(59_999), reported(60_000)]).to.deep.equal([10, 0, 10]);
    expect(refusals.of(WEB)).to.deep.equal({ count: 300, lastAtMs: 60_000, lastReason: '60000-99' });
  });

  it('is bounded and evicts the agent refused longest ago', () => {
    const refusals = new FrameRefusals();
    for (let n = 0; n <= 10_000; n += 1) refusals.record({ ...WEB, agentName: `web-${n}` }, 'r', n);
    expect(refusals.of({ ...WEB, agentName: 'web-0' })).to.equal(undefined);
    expect(refusals.of({ ...WEB, agentName: 'web-1' })).to.include({ count: 1 });
  });

  it('stores reasons of bounded length without control characters', () => {
    const refusals = new FrameRefusals();
    refusals.record(WEB, `\u0007${'x'.repeat(100_000)}`, 0);
    expect(refusals.of(WEB)?.lastReason).to.match(/^\\u\{7\}x{100,220}\.\.\.$/);
  });
});
