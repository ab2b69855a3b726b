import { expect } from 'chai';
import type { Input } from '../../../src/actors/core/decider.ts';
import { probeStore } from '../../../src/actors/supervision/store-probe.ts';

describe('a probe of the store', () => {
  it('is decided with the health query as its cause', async () => {
    const causes: Input['cause'][] = [];
    const decider = {
      decide: ({ cause }: Input) => {
        causes.push(cause);
        return { result: undefined as never, durable: Promise.resolve() };
      },
    };
    await probeStore({ get: () => 1 as never }, decider);
    expect(causes).to.deep.equal([{ backend: 'health.queried' }]);
  });
});
