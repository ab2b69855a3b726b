import { expect } from 'chai';
import fc from 'fast-check';
import { nextTickMs, timeoutError } from '../../src/rules/keepalive-ticks.ts';

/** Returns the ticks after the last keepalive, in seconds. */
function ticksS(warningS: number, criticalS: number, count: number): number[] {
  const timeouts = { warningMs: warningS * 1_000, criticalMs: criticalS * 1_000 };
  let elapsedMs = 0;
  return Array.from({ length: count }, () => {
    elapsedMs = nextTickMs(elapsedMs, timeouts);
    return elapsedMs / 1_000;
  });
}

describe('the ticks of a keepalive monitor', () => {
  const table: { warningS: number; criticalS: number; ticks: number[] }[] = [
    { warningS: 120, criticalS: 180, ticks: [120, 180, 240, 360, 480] },
    { warningS: 5, criticalS: 8, ticks: [5, 8, 10, 15, 20] },
    { warningS: 5, criticalS: 10, ticks: [5, 10, 15, 20] },
    { warningS: 5, criticalS: 5, ticks: [5, 10, 15] },
    { warningS: 10, criticalS: 5, ticks: [5, 10, 20, 30] },
    { warningS: 5, criticalS: 0, ticks: [5, 10, 15, 20] },
    { warningS: 0, criticalS: 7, ticks: [7, 14, 21] },
  ];
  for (const { warningS, criticalS, ticks } of table) {
    it(`come at ${ticks.join(', ')} s with a warning timeout of ${warningS} s and a critical one of ${criticalS} s`, () => {
      expect(ticksS(warningS, criticalS, ticks.length)).to.deep.equal(ticks);
    });
  }

  const timeouts = fc
    .record({ warningMs: fc.nat({ max: 600_000 }), criticalMs: fc.nat({ max: 600_000 }) })
    .filter(({ warningMs, criticalMs }) => warningMs > 0 || criticalMs > 0);

  it('always lie ahead by at most one timeout, at a multiple of the step or at the critical timeout', () => {
    fc.assert(
      fc.property(timeouts, fc.nat({ max: 10_000_000 }), ({ warningMs, criticalMs }, elapsedMs) => {
        const tickMs = nextTickMs(elapsedMs, { warningMs, criticalMs });
        const stepMs = warningMs > 0 ? warningMs : criticalMs;
        expect(tickMs).to.be.greaterThan(elapsedMs);
        expect(tickMs - elapsedMs).to.be.at.most(stepMs);
        expect(tickMs % stepMs === 0 || tickMs === criticalMs).to.equal(true);
      }),
    );
  });

  it('never skip the critical timeout', () => {
    fc.assert(
      fc.property(timeouts, fc.nat({ max: 10_000_000 }), ({ warningMs, criticalMs }, elapsedMs) => {
        const tickMs = nextTickMs(elapsedMs, { warningMs, criticalMs });
        expect(elapsedMs < criticalMs && criticalMs < tickMs).to.equal(false);
      }),
    );
  });
});

describe('the timeouts of a keepalive', () => {
  const allowed: [number, number, number][] = [
    [20, 120, 0],
    [2, 5, 8],
    [2, 5, 5],
    [2, 0, 5],
    [0, 0, 0],
    [20, 120, -1],
  ];
  for (const [intervalS, warningS, criticalS] of allowed) {
    it(`are accepted as ${warningS} and ${criticalS} s at an interval of ${intervalS} s`, () => {
      expect(timeoutError(intervalS, warningS, criticalS)).to.equal(undefined);
    });
  }

  const refused: [number, number, number, string][] = [
    [1, 3, 0, 'bad timeout: 3 is less than the minimum value of 5'],
    [1, 4, 0, 'bad timeout: 4 is less than the minimum value of 5'],
    [1, 5, 4, 'bad ttl: 4 is less than the minimum value of 5'],
    [20, 120, 20, 'ttl must be greater than check interval'],
  ];
  for (const [intervalS, warningS, criticalS, message] of refused) {
    it(`are rejected as ${warningS} and ${criticalS} s at an interval of ${intervalS} s: ${message}`, () => {
      expect(timeoutError(intervalS, warningS, criticalS)).to.equal(message);
    });
  }
});
