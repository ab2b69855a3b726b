import { createHash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { firstTickAtMs, splayOffsetNs } from '../../src/rules/splay.ts';
import { readGolden } from '../support/golden-file.ts';

interface Recording {
  now: string;
  rows: { name: string; interval: number; splay: string; offsetNs: string; seenFirstMs?: number; lateMs?: number }[];
  otherNow: { now: string; name: string; interval: number; offsetNs: string }[];
}
const recording = JSON.parse(readGolden('schedule/splay.json')) as Recording;

const md5 = (text: string): Uint8Array => createHash('md5').update(text).digest();
const NOW_MS = 1_700_000_000_000;
const NOW_NS = 1_700_000_000_000_000_000n;

describe('the splay of a check', () => {
  const vectors: [string, number, bigint][] = [
    ['check_cpu', 60, 21_931_326_799n],
    ['check-disk', 10, 6_678_039_353n],
    ['check_http', 300, 247_101_808_247n],
    ['a', 60, 34_180_749_580n],
    ['check_4', 60, 7_885_180_063n],
  ];
  for (const [name, intervalS, offsetNs] of vectors) {
    it(`is ${offsetNs} ns for ${name} at an interval of ${intervalS} s`, () => {
      expect(splayOffsetNs(md5, name, intervalS, NOW_NS)).to.equal(offsetNs);
    });
  }

  it('puts the first tick at the first whole millisecond that is not before it', () => {
    expect(new Date(firstTickAtMs(md5, 'check_cpu', 60, NOW_MS)).toISOString()).to.equal('2023-11-14T22:13:41.932Z');
    expect(firstTickAtMs(md5, 'check-disk', 10, NOW_MS)).to.equal(NOW_MS + 6_679);
  });

  const names = fc.stringMatching(/^[\w.:-]{1,40}$/);
  const intervals = fc.integer({ min: 1, max: 86_400 });
  const moments = fc.integer({ min: 0, max: 4_000_000_000_000 });

  it('lies within one interval', () => {
    fc.assert(
      fc.property(names, intervals, moments, (name, intervalS, nowMs) => {
        const offsetNs = splayOffsetNs(md5, name, intervalS, BigInt(nowMs) * 1_000_000n);
        expect(offsetNs >= 0n && offsetNs < BigInt(intervalS) * 1_000_000_000n).to.equal(true);
        const tickMs = firstTickAtMs(md5, name, intervalS, nowMs) - nowMs;
        expect(tickMs).to.be.within(0, intervalS * 1_000);
      }),
    );
  });

  it('leads to the same grid after a restart at any moment', () => {
    // Only names whose number is above every moment: the subtraction then never wraps. 2^64 is not a multiple of an interval.
    const ahead = names.filter((name) => Buffer.from(md5(name)).readBigUInt64LE() > 2n ** 62n);
    fc.assert(
      fc.property(ahead, intervals, moments, fc.nat({ max: 1_000_000_000 }), (name, intervalS, nowMs, laterMs) => {
        const first = firstTickAtMs(md5, name, intervalS, nowMs);
        const again = firstTickAtMs(md5, name, intervalS, nowMs + laterMs);
        expect(Math.abs(again - first) % (intervalS * 1_000)).to.equal(0);
      }),
    );
  });

  it('is the recorded one of every name, interval and clock', () => {
    const rows = recording.rows.map((row) => ({ ...row, now: recording.now }));
    for (const { name, interval, now, offsetNs } of [...rows, ...recording.otherNow]) {
      expect(splayOffsetNs(md5, name, interval, BigInt(now)), `${name} ${interval} ${now}`).to.equal(BigInt(offsetNs));
    }
    for (const { name, splay } of rows) expect(Buffer.from(md5(name)).readBigUInt64LE()).to.equal(BigInt(splay));
  });

  it('leads to the first ticks that were seen', () => {
    const seen = recording.rows.filter(({ seenFirstMs }) => seenFirstMs !== undefined);
    expect(seen).to.have.length.greaterThan(5);
    for (const { name, interval, seenFirstMs = 0, lateMs = 0 } of seen) {
      const tickMs = firstTickAtMs(md5, name, interval, seenFirstMs - lateMs - 500);
      expect(tickMs - (seenFirstMs - lateMs), `${name} ${interval}`).to.be.within(-1, 1);
    }
  });
});
