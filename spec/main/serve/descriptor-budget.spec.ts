import { expect } from 'chai';
import fc from 'fast-check';
import { descriptorLimit } from '../../../src/main/process/descriptor-limit.ts';
import { descriptorBudget } from '../../../src/main/serve/descriptor-budget.ts';

describe('the budget of descriptors', () => {
  const cases: [descriptors: number, wanted: number | undefined, api: number, agents: number][] = [
    [256, undefined, 32, 96],
    [1_024, undefined, 160, 480],
    [4_096, undefined, 928, 2_784],
    [20_000, undefined, 4_904, 14_712],
    [1_048_576, undefined, 10_000, 1_038_192],
    [Infinity, undefined, 10_000, Infinity],
    [1_024, 300, 300, 340],
    [1_024, 5_000, 480, 160],
    [1_048_576, 50_000, 50_000, 998_192],
  ];
  for (const [descriptors, wanted, apiConnections, agentConnections] of cases) {
    it(`of ${descriptors} grants the API ${apiConnections} and agents ${agentConnections} connections when the API wants ${wanted}`, () => {
      expect(descriptorBudget(descriptors, wanted)).to.deep.equal({ apiConnections, agentConnections });
    });
  }

  it('keeps half of the descriptors back, or 384, however many connections are wanted', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 64, max: 2_000_000 }),
        fc.option(fc.integer({ min: 1, max: 1_000_000 }), { nil: undefined }),
        (descriptors, wanted) => {
          const { apiConnections, agentConnections } = descriptorBudget(descriptors, wanted);
          const kept = descriptors - apiConnections - agentConnections;
          expect(kept).to.be.at.least(Math.min(384, Math.floor(descriptors / 2)) - 1);
          expect(apiConnections).to.be.at.least(1);
          expect(agentConnections).to.be.at.least(1);
        },
      ),
    );
  });

  it('begins with the limit of this process', () => {
    expect(descriptorLimit()).to.be.above(16);
  });
});
