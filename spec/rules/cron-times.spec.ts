import { expect } from 'chai';
import fc from 'fast-check';
import { parseCron } from '../../src/resources/cron-expression.ts';
import { nextCronTimeMs, nextDueMs } from '../../src/rules/cron-times.ts';
import { readGolden } from '../support/golden-file.ts';

interface Recorded {
  cron: string;
  from: string;
  next: string[];
  ours?: string;
}

const { next: rows } = JSON.parse(readGolden('schedule/cron.json')) as { next: Recorded[] };
/** Sets the zone to UTC, which is the zone of the process in the recording. */
const inUtc = (cron: string): string => (/^(CRON_)?TZ=/.test(cron) ? cron : `TZ=UTC ${cron}`);
const iso = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z');

function* timesAfter(cron: string, from: string): Generator<string> {
  const schedule = parseCron(inUtc(cron));
  for (let ms: number | undefined = Date.parse(from); ;) {
    ms = nextCronTimeMs(schedule, ms);
    yield ms === undefined ? 'never' : iso(ms);
    if (ms === undefined) return;
  }
}

describe('the next times of a cron expression', () => {
  // Our parser rejects a period that runs backwards.
  for (const { cron, from, next } of rows.filter(
    (recorded) => recorded.ours === undefined && !recorded.cron.includes(' -'),
  )) {
    it(`match the recorded times for ${cron} after ${from}`, () => {
      const times = timesAfter(cron, from);
      expect(next.map(() => times.next().value)).to.deep.equal(next);
    });
  }

  it('include a leap day that follows a century without one', () => {
    const nextMs = nextDueMs(parseCron('TZ=UTC 0 0 29 2 *'), Date.parse('2096-03-01T00:00:00Z'));
    expect(iso(nextMs)).to.equal('2104-02-29T00:00:00Z');
  });

  it('are found on a day whose first minutes come twice, because the clocks are set back one minute past midnight', () => {
    const times = timesAfter('CRON_TZ=America/St_Johns 0,45 0,13 * * 0', '2010-11-07T02:29:00Z');
    const next = ['2010-11-07T02:30:00Z', '2010-11-07T03:30:00Z', '2010-11-07T04:15:00Z', '2010-11-07T16:30:00Z'];
    expect(next.map(() => times.next().value)).to.deep.equal(next);
  });

  const ZONES = [
    'UTC',
    'America/New_York',
    'Europe/Berlin',
    'Australia/Lord_Howe',
    'America/Sao_Paulo',
    'America/St_Johns',
  ];
  /** Days on which the clocks of one of the zones change: at midnight, on the hour, or one minute past it. */
  const MOMENTS = [
    '2024-03-10',
    '2024-11-03',
    '2018-11-04',
    '2018-02-18',
    '2024-04-07',
    '2024-10-06',
    '2010-11-07',
    '2024-02-28',
  ];
  const field = (min: number, max: number) =>
    fc.oneof(
      fc.constantFrom('*', '*', '?', '*/2', '*/7'),
      fc.integer({ min, max }).map(String),
      fc
        .tuple(fc.integer({ min, max }), fc.integer({ min, max }))
        .map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
      fc.array(fc.integer({ min, max }), { minLength: 1, maxLength: 4 }).map((list) => list.join(',')),
    );
  const expression = fc.tuple(field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 6));

  /** Finds the next time by trying each minute of the following three days on the zone's clock. */
  function nextTimeByTrial(fields: readonly string[], zone: string, fromMs: number): number | undefined {
    const format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      weekday: 'short',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
    });
    const [minutes = '', hours = '', days = '', months = '', weekdays = ''] = fields;
    const bare = (part: string): boolean => part === '*' || part === '?';
    const first = Math.floor(fromMs / 60_000) + 1;
    for (let index = first; index < first + 3 * 1_440; index += 1) {
      const shown = new Map(format.formatToParts(index * 60_000).map(({ type, value }) => [type, value]));
      const value = (name: Intl.DateTimeFormatPartTypes): number => Number(shown.get(name));
      const weekday = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'].indexOf(shown.get('weekday') ?? '');
      const [isDay, isWeekday] = [matches(days, value('day'), 1), matches(weekdays, weekday, 0)];
      const isDue =
        matches(minutes, value('minute'), 0) &&
        matches(hours, value('hour'), 0) &&
        matches(months, value('month'), 1) &&
        (bare(days) || bare(weekdays) ? isDay && isWeekday : isDay || isWeekday);
      if (isDue) return index * 60_000;
    }
    return undefined;
  }

  function matches(part: string, value: number, min: number): boolean {
    if (part === '*' || part === '?') return true;
    if (part.startsWith('*/')) return (value - min) % Number(part.slice(2)) === 0;
    const [low, high] = part.split('-').map(Number);
    if (high !== undefined) return value >= (low ?? 0) && value <= high;
    return part.split(',').map(Number).includes(value);
  }

  it('are the times that match on the clock of the zone, across every clock change', function () {
    this.timeout(60_000);
    const from = fc.tuple(fc.constantFrom(...MOMENTS), fc.integer({ min: -86_400, max: 86_400 }));
    fc.assert(
      fc.property(expression, fc.constantFrom(...ZONES), from, (fields, zone, [day, offsetS]) => {
        const fromMs = Date.parse(day) + offsetS * 1_000;
        const expected = nextTimeByTrial(fields, zone, fromMs);
        let schedule;
        try {
          schedule = parseCron(`CRON_TZ=${zone} ${fields.join(' ')}`);
        } catch {
          expect(expected).to.equal(undefined);
          return;
        }
        const found = nextCronTimeMs(schedule, fromMs);
        if (expected !== undefined) expect(found).to.equal(expected);
        else if (found !== undefined)
          expect(found).to.be.at.least((Math.floor(fromMs / 60_000) + 1 + 3 * 1_440) * 60_000);
      }),
      { numRuns: 40 },
    );
  });
});
