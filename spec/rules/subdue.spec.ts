import { expect } from 'chai';
import fc from 'fast-check';
import { isSubdued } from '../../src/rules/subdue.ts';

const NIGHT = ['2024-01-01T22:00:00Z', '2024-01-02T06:00:00Z'] as const;
const DAY_MS = 86_400_000;

/** 2024-06-03 is a Monday. */
describe('a check with subdue windows', () => {
  const cases: [begin: string, end: string, repeat: string | null, at: string, isIn: boolean][] = [
    ['2024-06-03T17:00:00Z', '2024-06-03T18:00:00Z', null, '2024-06-03T16:59:59.999Z', false],
    ['2024-06-03T17:00:00Z', '2024-06-03T18:00:00Z', null, '2024-06-03T17:00:00Z', true],
    ['2024-06-03T17:00:00Z', '2024-06-03T18:00:00Z', null, '2024-06-03T18:00:00.500Z', true],
    ['2024-06-03T17:00:00Z', '2024-06-03T18:00:00Z', null, '2024-06-03T18:00:01Z', false],
    ['2024-06-03T17:00:00Z', '2024-06-03T17:00:00Z', null, '2024-06-03T17:00:00.900Z', true],
    ['2024-06-03T17:00:00Z', '2024-06-03T18:00:00Z', null, '2024-06-04T17:30:00Z', false],
    ['2024-06-03T09:00:00Z', '2024-06-03T11:00:00Z', 'daily', '2024-06-09T11:00:00.900Z', true],
    ['2024-06-03T09:00:00Z', '2024-06-03T11:00:00Z', 'daily', '2024-06-09T11:00:01Z', false],
    ['2024-06-03T09:00:00Z', '2024-06-03T11:00:00Z', 'daily', '2024-06-02T10:00:00Z', false],
    // These windows began on the day, the week or the month before.
    [...NIGHT, 'daily', '2024-06-05T03:00:00Z', true],
    [...NIGHT, 'daily', '2024-06-05T06:00:01Z', false],
    [...NIGHT, 'daily', '2024-01-01T03:00:00Z', false],
    [...NIGHT, 'weekdays', '2024-06-05T03:00:00Z', true],
    [...NIGHT, 'weekdays', '2024-06-08T03:00:00Z', true],
    [...NIGHT, 'weekdays', '2024-06-09T03:00:00Z', false],
    [...NIGHT, 'weekends', '2024-06-10T03:00:00Z', true],
    ['2024-06-01T22:00:00Z', '2024-06-02T06:00:00Z', 'saturdays', '2024-06-09T03:00:00Z', true],
    ['2024-06-02T22:00:00Z', '2024-06-03T06:00:00Z', 'sundays', '2024-06-10T03:00:00Z', true],
    ['2024-05-31T17:00:00Z', '2024-06-03T08:00:00Z', 'fridays', '2024-06-08T09:00:00Z', true],
    ['2024-05-31T17:00:00Z', '2024-06-03T08:00:00Z', 'fridays', '2024-06-09T09:00:00Z', true],
    ['2024-05-31T17:00:00Z', '2024-06-03T08:00:00Z', 'fridays', '2024-06-10T08:00:01Z', false],
    ['2024-01-31T22:00:00Z', '2024-02-01T06:00:00Z', 'monthly', '2024-04-01T03:00:00Z', true],
    ['2024-01-31T10:00:00Z', '2024-01-31T11:00:00Z', 'monthly', '2024-02-29T10:30:00Z', false],
    ['2024-01-31T10:00:00Z', '2024-01-31T11:00:00Z', 'monthly', '2024-03-31T10:30:00Z', true],
    ['2024-02-29T10:00:00Z', '2024-02-29T11:00:00Z', 'annually', '2025-02-28T10:30:00Z', false],
    ['2024-02-29T10:00:00Z', '2024-02-29T11:00:00Z', 'annually', '2028-02-29T10:30:00Z', true],
    ['2023-12-31T22:00:00Z', '2024-01-01T06:00:00Z', 'annually', '2026-01-01T03:00:00Z', true],
    // A window repeats at the UTC offset of its beginning, without daylight saving time.
    ['2024-01-01T10:00:00-05:00', '2024-01-01T11:00:00-05:00', 'mondays', '2024-07-01T14:30:00Z', false],
    ['2024-01-01T10:00:00-05:00', '2024-01-01T11:00:00-05:00', 'mondays', '2024-07-01T15:30:00Z', true],
    ['2024-01-01T01:00:00+05:30', '2024-01-01T02:00:00+05:30', 'weekly', '2024-07-07T20:00:00Z', true],
    ['2024-01-01T01:00:00+05:30', '2024-01-01T02:00:00+05:30', 'weekly', '2024-07-08T20:00:00Z', false],
    ['x', '2024-06-03T18:00:00Z', 'daily', '2024-06-03T17:30:00Z', false],
    ['2024-06-03T17:00:00Z', 'x', 'daily', '2024-06-03T17:30:00Z', false],
    ['2024-06-03T17:00:00Z', '2024-06-03T18:00:00Z', 'nightly', '2024-06-03T17:30:00Z', false],
  ];
  for (const [begin, end, repeat, at, isIn] of cases) {
    it(`is ${isIn ? '' : 'not '}subdued at ${at} by a window from ${begin} to ${end}, ${repeat ?? 'once'}`, () => {
      const window = { begin, end, repeat: repeat === null ? null : [repeat] };
      expect(isSubdued([window], Date.parse(at))).to.equal(isIn);
    });
  }

  it('is subdued in any of its windows, and never without one', () => {
    const [one, other] = ['2024-06-03', '2024-06-05'].map((day) => ({
      begin: `${day}T09:00:00Z`,
      end: `${day}T10:00:00Z`,
      repeat: [],
    }));
    if (one === undefined || other === undefined) throw new Error('two windows');
    expect(isSubdued([one, other], Date.parse('2024-06-05T09:30:00Z'))).to.equal(true);
    expect(isSubdued([], Date.parse('2024-06-05T09:30:00Z'))).to.equal(false);
  });

  it('is subdued each day for the length of a daily window', () => {
    const begin = fc.integer({ min: 0, max: DAY_MS / 1_000 - 1 });
    const lengthS = fc.integer({ min: 0, max: DAY_MS / 1_000 - 2 });
    fc.assert(
      fc.property(
        begin,
        lengthS,
        fc.integer({ min: 0, max: 1_000 }),
        fc.nat({ max: DAY_MS - 1 }),
        (at, length, days, ms) => {
          const beginMs = Date.parse('2024-01-01T00:00:00Z') + at * 1_000;
          const iso = (moment: number): string => new Date(moment).toISOString();
          const window = { begin: iso(beginMs), end: iso(beginMs + length * 1_000), repeat: ['daily'] };
          expect(isSubdued([window], beginMs + days * DAY_MS + ms)).to.equal(ms < (length + 1) * 1_000);
        },
      ),
    );
  });
});
