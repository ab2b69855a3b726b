import { expect } from 'chai';
import type { WeeklyWindows } from '../../src/resources/time-windows.ts';
import { isInClockWindows } from '../../src/rules/clock-windows.ts';

/** A Monday. */
const MONDAY = '2024-03-11T';

const isInside = (days: WeeklyWindows['days'], time: string, day = MONDAY): boolean | undefined =>
  isInClockWindows({ days }, Date.parse(`${day}${time}Z`));

describe('the clock windows of a filter', () => {
  const afternoon = [{ begin: '3:00 PM', end: '4:00PM' }];
  const overnight = [{ begin: '11:00PM', end: '1:00AM' }];
  const cases: [string, WeeklyWindows['days'], string, boolean][] = [
    ['begin with their first second', { all: afternoon }, '15:00:00', true],
    ['do not cover the second before', { all: afternoon }, '14:59:59', false],
    ['include the second that their end names', { all: afternoon }, '16:00:00', true],
    ['do not cover the second after their end', { all: afternoon }, '16:00:01', false],
    ['apply on their weekday', { monday: afternoon }, '15:30:00', true],
    ['do not apply on another weekday', { tuesday: afternoon }, '15:30:00', false],
    ['of every day apply beside those of the weekday', { all: overnight, monday: afternoon }, '23:30:00', true],
    ['over midnight cover the end of their day', { monday: overnight }, '23:30:00', true],
    ['over midnight cover the beginning of their own day', { monday: overnight }, '00:30:00', true],
    ['over midnight leave out the middle of the day', { monday: overnight }, '12:00:00', false],
    ['over midnight do not cover the next morning', { sunday: overnight }, '00:30:00', false],
    ['read 12 AM as midnight', { all: [{ begin: '12:00AM', end: '12:01AM' }] }, '00:00:30', true],
    ['read 12 PM as noon', { all: [{ begin: '12:00PM', end: '12:01PM' }] }, '12:00:30', true],
    ['accept a leading zero', { all: [{ begin: '03:00PM', end: '04:00PM' }] }, '15:30:00', true],
    [
      'leave out the last minute of a day that ends at 11:59 PM',
      { all: [{ begin: '12:00AM', end: '11:59PM' }] },
      '23:59:01',
      false,
    ],
    ['cover nothing when there are none', {}, '15:30:00', false],
  ];
  for (const [what, days, time, expected] of cases) {
    it(what, () => {
      expect(isInside(days, time)).to.equal(expected);
    });
  }

  it('have no answer when one of them cannot be read', () => {
    expect(isInside({ all: [{ begin: '15:00', end: '16:00' }] }, '15:30:00')).to.equal(undefined);
  });
});
