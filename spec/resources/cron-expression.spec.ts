import { expect } from 'chai';
import fc from 'fast-check';
import { assertCron } from '../../src/resources/cron-expression.ts';
import { readGolden } from '../support/golden-file.ts';
import { refusalOf } from '../support/refusal.ts';

interface Written {
  cron: string;
  status: number;
  message?: string;
}

interface Recording {
  next: { cron: string; ours?: unknown }[];
  write: (Written & { ours?: Written })[];
}

const recording = JSON.parse(readGolden('schedule/cron.json')) as Recording;
const PREFIX = 'check cron string is invalid: ';

/** The reference goes on with the words of its parser, which are no contract. */
const withoutDetail = (reason: string | undefined): string | undefined =>
  reason?.replace(/(failed to parse (?:int from|duration) .*?): .*$/, '$1');

/** What the recording holds of schedules that never come due, or run backwards: other rules of ours decide them. */
const isDecidedElsewhere = ({ cron, ours }: { cron: string; ours?: unknown }): boolean =>
  ours !== undefined || cron.startsWith('@every -');

describe('a cron expression', () => {
  for (const row of recording.write.filter((written) => written.cron !== '' && !isDecidedElsewhere(written))) {
    const expected = row.status === 201 ? undefined : row.message?.replace('resource is invalid: ', '');
    it(`"${row.cron}" is ${expected === undefined ? 'accepted' : `refused: ${expected}`}`, () => {
      expect(withoutDetail(refusalOf(() => assertCron(row.cron)))).to.equal(withoutDetail(expected));
    });
  }

  it('that has next times is accepted', () => {
    for (const { cron } of recording.next.filter((row) => !isDecidedElsewhere(row))) {
      expect(
        refusalOf(() => assertCron(cron)),
        cron,
      ).to.equal(undefined);
    }
  });

  const refused: [string, string][] = [
    [' ', 'expected exactly 5 fields, found 0: []'],
    ['60 * * * *', 'end of range (60) above maximum (59): 60'],
    ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
    ['5-1 * * * *', 'beginning of range (5) beyond end of range (1): 5-1'],
    ['*/0 * * * *', 'step of range should be a positive number: */0'],
    ['1/2/3 * * * *', 'too many slashes: 1/2/3'],
    ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
    ['@reboot', 'unrecognized descriptor: @reboot'],
    ['@every', 'unrecognized descriptor: @every'],
    ['@Hourly', 'unrecognized descriptor: @Hourly'],
    ['TZ=Nope/Nope * * * * *', 'provided bad location Nope/Nope: unknown time zone Nope/Nope'],
    ['TZ=+02:00 * * * * *', 'provided bad location +02:00: unknown time zone +02:00'],
    ['@every -5m', 'failed to parse duration @every -5m: must not be negative'],
  ];
  for (const [cron, reason] of refused) {
    it(`"${cron}" is refused: ${reason}`, () => {
      expect(refusalOf(() => assertCron(cron))).to.equal(PREFIX + reason);
    });
  }

  it('with a zone and nothing behind it is refused', () => {
    expect(refusalOf(() => assertCron('TZ=Asia/Tokyo'))).to.match(/^check cron string is invalid: /);
  });

  const accepted = [
    '0 0 * * SUN-SAT',
    '*/90 * * * *',
    '5,,6 * * * *',
    '+1 * * * *',
    ' 0\t0 * jan *  ',
    '@annually',
    '@every 1h30m',
    '@every 1.5h',
    'CRON_TZ=Asia/Tokyo 0 0 * * *',
    'TZ= 0 0 * * *',
    'TZ=Local @daily',
  ];
  for (const cron of accepted) {
    it(`"${cron}" is accepted`, () => {
      expect(refusalOf(() => assertCron(cron))).to.equal(undefined);
    });
  }

  it('is accepted or refused for a reason, whatever the text', () => {
    const likely = fc.stringMatching(/^[0-9*?/,+ @TZ=everysunja-]{0,30}$/);
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), likely), (text) => {
        const reason = refusalOf(() => assertCron(text));
        if (reason !== undefined) expect(reason.startsWith(PREFIX)).to.equal(true);
      }),
    );
  });
});
