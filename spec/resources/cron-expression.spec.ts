import { expect } from 'chai';
import fc from 'fast-check';
import { assertCron } from '../../src/resources/cron-expression.ts';
import { readGolden } from '../support/golden-file.ts';
import { validationErrorOf } from '../support/validation-error.ts';

interface Written {
  cron: string;
  status: number;
  message?: string;
}

interface Recording {
  next: { cron: string; ours?: string }[];
  write: (Written & { ours?: Written })[];
}

const recording = JSON.parse(readGolden('schedule/cron.json')) as Recording;
const PREFIX = 'check cron string is invalid: ';

/** The reference continues with the text of its parser, which is not part of the contract. */
const withoutDetail = (reason: string | undefined): string | undefined =>
  reason?.replace(/(failed to parse (?:int from|duration) .*?): .*$/, '$1');

/** This period runs backwards. One of our own rules rejects it. */
const isDecidedElsewhere = ({ cron }: { cron: string }): boolean => cron.startsWith('@every -');
/** The recorded answer, or ours where it differs. */
const expectedOf = ({ cron, status, message, ours }: Recording['write'][number]): string | undefined => {
  const answer = ours ?? { cron, status, message };
  return answer.status === 201 ? undefined : answer.message?.replace('resource is invalid: ', '');
};

describe('a cron expression', () => {
  for (const recorded of recording.write.filter((written) => written.cron !== '' && !isDecidedElsewhere(written))) {
    const expected = expectedOf(recorded);
    it(`is ${expected === undefined ? 'accepted' : 'rejected'}: "${recorded.cron}"${expected === undefined ? '' : `, ${expected}`}`, () => {
      expect(withoutDetail(validationErrorOf(() => assertCron(recorded.cron)))).to.equal(withoutDetail(expected));
    });
  }

  it('is accepted if it has a next time, and rejected if it has none', () => {
    for (const { cron, ours } of recording.next.filter((recorded) => !isDecidedElsewhere(recorded))) {
      const expected = ours?.startsWith('rejected on write: ') ? `${PREFIX}schedule never occurs` : undefined;
      expect(
        validationErrorOf(() => assertCron(cron)),
        cron,
      ).to.equal(expected);
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
    ['0 0 31 2 *', 'schedule never occurs'],
    ['0 0 30-31 2 ?', 'schedule never occurs'],
    ['0 0 31 4,6,9-11/2 *', 'schedule never occurs'],
    ['0 0 31 2,4-6/2 *', 'schedule never occurs'],
    ['TZ=UTC , * * * *', 'schedule never occurs'],
    ['* , * * *', 'schedule never occurs'],
    ['* * * , *', 'schedule never occurs'],
    ['* * * * ,', 'schedule never occurs'],
    ['* * , * *', 'schedule never occurs'],
    ['@every -5m', 'failed to parse duration @every -5m: must not be negative'],
  ];
  for (const [cron, reason] of refused) {
    it(`is rejected: "${cron}", ${reason}`, () => {
      expect(validationErrorOf(() => assertCron(cron))).to.equal(PREFIX + reason);
    });
  }

  it('is rejected when it consists of a time zone only', () => {
    expect(validationErrorOf(() => assertCron('TZ=Asia/Tokyo'))).to.match(/^check cron string is invalid: /);
  });

  const accepted = [
    '0 0 * * SUN-SAT',
    '*/90 * * * *',
    '0 0 29 2 *',
    '0 0 31 2 MON',
    '0 0 , * MON',
    '0 0 31 */2 *',
    '0 0 31,1 2 *',
    '0 0 5/90 2 *',
    '*-5 * * * *',
    '5,,6 * * * *',
    '+1 * * * *',
    ' 0\t0 * jan *  ',
    '@annually',
    '@every 1h30m',
    '@every 1.5h',
    'CRON_TZ=Asia/Tokyo 0 0 * * *',
    'CRON_TZ=asia/TOKYO 0 0 * * *',
    'TZ= 0 0 * * *',
    'TZ=Local @daily',
  ];
  for (const cron of accepted) {
    it(`is accepted: "${cron}"`, () => {
      expect(validationErrorOf(() => assertCron(cron))).to.equal(undefined);
    });
  }

  it('is accepted or rejected with a reason, whatever the text', () => {
    const likely = fc.stringMatching(/^[0-9*?/,+ @TZ=everysunja-]{0,30}$/);
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), likely), (text) => {
        const reason = validationErrorOf(() => assertCron(text));
        if (reason !== undefined) expect(reason.startsWith(PREFIX)).to.equal(true);
      }),
    );
  });
});
