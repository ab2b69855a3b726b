import { expect } from 'chai';
import { GrowthForecast } from '../../src/rules/growth-forecast.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe('the forecast of a growing size', () => {
  const grown = (hours: number, bytesAt: (hour: number) => number): GrowthForecast => {
    const forecast = new GrowthForecast();
    for (let hour = 0; hour <= hours; hour += 1) forecast.add(hour * HOUR_MS, bytesAt(hour));
    return forecast;
  };

  it('is the time at which steady growth reaches the limit', () => {
    const forecast = grown(48, (hour) => hour * 1_000);
    expect(forecast.daysUntil(72_000, 2 * DAY_MS, 48_000)).to.be.closeTo(1, 1e-6);
  });

  it('is unknown before two hours, and without growth', () => {
    expect(grown(1, (hour) => hour * 1_000).daysUntil(72_000, HOUR_MS, 1_000)).to.equal(undefined);
    expect(grown(48, () => 5).daysUntil(72_000, 2 * DAY_MS, 5)).to.equal(undefined);
    expect(grown(48, (hour) => 1_000 - hour).daysUntil(72_000, 2 * DAY_MS, 952)).to.equal(undefined);
  });

  it('is 0 when the limit is reached', () => {
    expect(grown(48, (hour) => hour * 1_000).daysUntil(40_000, 2 * DAY_MS, 48_000)).to.equal(0);
  });

  it('follows the last week', () => {
    const forecast = grown(24 * 30, (hour) => (hour < 24 * 20 ? 0 : (hour - 24 * 20) * 1_000));
    expect(forecast.daysUntil(264_000, 30 * DAY_MS, 240_000)).to.be.closeTo(1, 1e-6);
  });

  it('takes one sample an hour', () => {
    const forecast = new GrowthForecast();
    for (let minute = 0; minute <= 300; minute += 1) forecast.add(minute * 60_000, minute * 10);
    expect(forecast.daysUntil(3_000 + 14_400, 5 * HOUR_MS, 3_000)).to.be.closeTo(1, 1e-6);
  });
});
