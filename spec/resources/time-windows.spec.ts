import { expect } from 'chai';
import {
  assertRepeatedWindows,
  assertWeeklyWindows,
  weeklyWindowsWithDefaults,
} from '../../src/resources/time-windows.ts';
import { validationErrorOf } from '../support/validation-error.ts';

describe('a repeated window', () => {
  const BEGIN = '2020-01-01T00:00:00Z';
  const END = '2020-01-01T10:00:00+02:00';
  const cases: [string, { begin: string; end: string; repeat: string[] | null }, RegExp | undefined][] = [
    ['from one moment to a later one', { begin: BEGIN, end: END, repeat: null }, undefined],
    ['without any length', { begin: BEGIN, end: BEGIN, repeat: [] }, undefined],
    ['with fractions of a second', { begin: '2020-01-01T00:00:00.5Z', end: END, repeat: null }, undefined],
    [
      'with every period',
      {
        begin: BEGIN,
        end: END,
        repeat:
          'annually monthly weekly daily weekdays weekends sundays mondays tuesdays wednesdays thursdays fridays saturdays'.split(
            ' ',
          ),
      },
      undefined,
    ],
    ['without a beginning', { begin: '', end: END, repeat: null }, /^subdue 0 invalid: invalid begin time format/],
    [
      'with a zone without a colon',
      { begin: '2020-01-01T00:00:00-0700', end: END, repeat: null },
      /invalid begin time/,
    ],
    ['with an invalid end', { begin: BEGIN, end: 'y', repeat: null }, /^subdue 0 invalid: invalid end time format/],
    [
      'with a month that does not exist',
      { begin: '2020-13-01T00:00:00Z', end: END, repeat: null },
      /begin time format/,
    ],
    [
      'with an end before its beginning',
      { begin: END, end: BEGIN, repeat: null },
      /^subdue 0 invalid: end time must be after begin time$/,
    ],
    ...['2020-02-30', '2021-02-29', '2020-04-31', '2020-00-10', '2020-01-00'].map(
      (day): [string, { begin: string; end: string; repeat: string[] | null }, RegExp] => [
        `with a start on ${day}, a day that does not exist`,
        { begin: `${day}T00:00:00Z`, end: END, repeat: null },
        new RegExp(`begin time format: ${day}`),
      ],
    ),
    ...['+25:00', '-99:00', '+00:61', '+1:00'].map(
      (offset): [string, { begin: string; end: string; repeat: string[] | null }, RegExp] => [
        `with the offset ${offset}, which does not exist`,
        { begin: BEGIN, end: `2020-01-02T00:00:00${offset}`, repeat: null },
        /end time format/,
      ],
    ),
    [
      'on the last day of a February of a leap year',
      { begin: '2020-02-29T00:00:00Z', end: '2020-03-01T00:00:00Z', repeat: null },
      undefined,
    ],
    ['with an hour of one digit', { begin: '2020-01-01T0:00:00Z', end: END, repeat: null }, undefined],
    ['with a comma before the fraction', { begin: '2020-01-01T00:00:00,5Z', end: END, repeat: null }, undefined],
    ['with the largest offset', { begin: BEGIN, end: '2020-01-02T00:00:00-24:60', repeat: null }, undefined],
    ['with an unknown period', { begin: BEGIN, end: END, repeat: ['Daily'] }, /invalid repeat period: Daily$/],
  ];
  for (const [what, window, message] of cases) {
    it(`is ${message === undefined ? 'accepted' : 'rejected'} ${what}`, () => {
      const reason = validationErrorOf(() => assertRepeatedWindows([window]));
      if (message === undefined) expect(reason).to.equal(undefined);
      else expect(reason).to.match(message);
    });
  }

  it('is named by its index in an error', () => {
    const window = { begin: BEGIN, end: END, repeat: null };
    const reason = validationErrorOf(() => assertRepeatedWindows([window, { ...window, repeat: ['x'] }]));
    expect(reason).to.equal('subdue 1 invalid: invalid repeat period: x');
  });
});

describe('a weekly window', () => {
  const of = (begin: string, end: string) => weeklyWindowsWithDefaults({ days: { all: [{ begin, end }] } });

  for (const [begin, end] of [
    ['3:00PM', '4:00 PM'],
    ['12:59AM', '01:00AM'],
    ['0:00AM', '00:30 PM'],
    [' 5:00PM', ' 1 : 0 0 A M '],
  ] as const) {
    it(`can last from ${begin} to ${end}`, () => {
      expect(validationErrorOf(() => assertWeeklyWindows(of(begin, end)))).to.equal(undefined);
    });
  }

  for (const time of ['15:00', '3:00pm', '13:00PM', '001:00AM', '1:0PM', '1:60AM', '1:00AM\t', '1:00AMx', 'x', '']) {
    it(`cannot begin at ${JSON.stringify(time)}`, () => {
      expect(validationErrorOf(() => assertWeeklyWindows(of(time, '4:00PM')))).to.be.a('string');
    });
  }

  it('drops unknown days and renders no days as an empty object', () => {
    const days = { someday: [{ begin: 'x', end: 'y' }], all: [] };
    expect(weeklyWindowsWithDefaults({ days })).to.deep.equal({ days: {} });
    expect(weeklyWindowsWithDefaults(null)).to.equal(null);
  });
});
