import { expect } from 'chai';
import { parseEvent } from '../../src/resources/event.ts';
import { MutateJob } from '../../src/sandbox/mutate-job.ts';
import { proxyEvent } from '../support/example-events.ts';

const event = parseEvent(proxyEvent('web-1', 'disk', { status: 2 }));

describe('the time limit of a JavaScript mutator', () => {
  const limitMs = (timeoutMs: number): number => {
    const task = { event, body: '', variables: {}, timeoutMs, nowMs: 0, lookedUp: {}, spentMs: 0 };
    const unused = (): never => expect.fail('the job is not run');
    return new MutateJob(task, { namespace: 'default', name: 'disk' }, unused, unused).limitMs;
  };

  it('is its timeout, one second without one, and a minute at most', () => {
    expect([0, 100, 1_000, 30_000, 60_000, 61_000].map(limitMs)).to.deep.equal([
      1_000, 100, 1_000, 30_000, 60_000, 60_000,
    ]);
  });
});
