import { expect } from 'chai';
import { fullAtMs } from '../../../src/main/serve/backend-health.ts';

const MINUTE_MS = 60_000;
const at = (minute: number, freeBytes: number) => ({ atMs: minute * MINUTE_MS, freeBytes, totalBytes: 1_000 });

describe('the forecast of a full disk', () => {
  it('continues the line from the first to the last sample', () => {
    expect(fullAtMs([at(0, 600), at(5, 580), at(10, 500)])).to.equal(60 * MINUTE_MS);
  });

  it('is none while the disk does not fill, and from less than five minutes', () => {
    expect(fullAtMs([at(0, 500), at(10, 500)])).to.equal(undefined);
    expect(fullAtMs([at(0, 500), at(10, 600)])).to.equal(undefined);
    expect(fullAtMs([at(0, 500), at(4, 100)])).to.equal(undefined);
    expect(fullAtMs([])).to.equal(undefined);
  });

  it('is none for a disk that lasts longer than a year', () => {
    expect(fullAtMs([at(0, 1_000_000_000), at(60, 999_999_999)])).to.equal(undefined);
  });
});
