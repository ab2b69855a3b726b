import { expect } from 'chai';
import fc from 'fast-check';
import { TokenBucket } from '../../src/rules/token-bucket.ts';

describe('a token bucket', () => {
  it('starts full and refills over time up to its capacity', () => {
    let nowMs = 0;
    const bucket = new TokenBucket({ tokensPerS: 2, capacity: 3, nowMs: () => nowMs });
    const taken = (): number => Array.from({ length: 10 }, () => bucket.take()).filter(Boolean).length;
    expect(taken()).to.equal(3);
    nowMs = 499;
    expect(taken()).to.equal(0);
    nowMs = 500;
    expect(taken()).to.equal(1);
    nowMs = 1_000_000;
    expect(taken()).to.equal(3);
  });

  it('never allows more than its capacity plus the refilled tokens, and loses less than one token', () => {
    const waits = fc.array(fc.integer({ min: 0, max: 5_000 }), { maxLength: 200 });
    fc.assert(
      fc.property(
        waits,
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 20 }),
        (waitsMs, rate, capacity) => {
          let nowMs = 0;
          const bucket = new TokenBucket({ tokensPerS: rate / 10, capacity, nowMs: () => nowMs });
          let passed = 0;
          for (const waitMs of waitsMs) {
            nowMs += waitMs;
            while (bucket.take()) passed += 1;
            const most = capacity + (nowMs / 1_000) * (rate / 10);
            expect(passed).to.be.at.most(most + 1e-6);
          }
          expect(bucket.take()).to.equal(waitsMs.length === 0);
        },
      ),
    );
  });
});
