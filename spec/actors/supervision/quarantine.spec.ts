import { expect } from 'chai';
import { Quarantine } from '../../../src/actors/supervision/quarantine.ts';

const MINUTE_MS = 60_000;
const KEY = 'default/web-01';

describe('the quarantine', () => {
  let quarantine: Quarantine;

  beforeEach(() => {
    quarantine = new Quarantine();
  });

  const fail = (atMs: number, key = KEY) => quarantine.failed('entity', key, atMs);

  const release = (atMs = 0) => quarantine.release('entity', KEY, atMs);

  /** Reports five failures at once. Returns the wait of the last one. */
  function quarantined(atMs: number): number | undefined {
    const waits = [1, 2, 3, 4, 5].map(() => fail(atMs));
    return waits.at(-1);
  }

  it('holds an actor for a minute after five failures within a minute', () => {
    const waits = [0, 10_000, 20_000, 30_000, 59_999].map((atMs) => fail(atMs));
    expect(waits).to.deep.equal([undefined, undefined, undefined, undefined, MINUTE_MS]);
    expect(quarantine.has('entity', KEY)).to.equal(true);
    expect(quarantine.quarantined).to.deep.equal([`entity/${KEY}`]);
  });

  it('does not hold an actor that fails less often', () => {
    for (let n = 0; n < 50; n += 1) expect(fail(n * 15_000)).to.equal(undefined);
    expect(quarantine.has('entity', KEY)).to.equal(false);
  });

  it('counts the failures of each actor and kind separately', () => {
    for (let n = 0; n < 4; n += 1) {
      expect(fail(0)).to.equal(undefined);
      expect(fail(0, 'default/web-02')).to.equal(undefined);
      expect(quarantine.failed('check-ttl', KEY, 0)).to.equal(undefined);
    }
    expect(fail(0)).to.equal(MINUTE_MS);
    expect(quarantine.has('entity', 'default/web-02')).to.equal(false);
    expect(quarantine.has('check-ttl', KEY)).to.equal(false);
  });

  it('holds a released actor again at its next failure, for twice as long, up to an hour', () => {
    const waits = [quarantined(0)];
    for (let n = 1; n <= 7; n += 1) {
      expect(release()).to.equal(true);
      waits.push(fail(0));
    }
    expect(waits.map((waitMs) => (waitMs ?? 0) / MINUTE_MS)).to.deep.equal([1, 2, 4, 8, 16, 32, 60, 60]);
  });

  it('does not release an actor that is not quarantined', () => {
    expect(release()).to.equal(false);
    quarantined(0);
    release();
    expect(release()).to.equal(false);
  });

  it('forgets an actor a minute after its release, and keeps one that is still quarantined', () => {
    quarantined(0);
    quarantine.forgetHealthy(10 * MINUTE_MS);
    expect(quarantine.has('entity', KEY)).to.equal(true);
    release(10 * MINUTE_MS);
    quarantine.forgetHealthy(11 * MINUTE_MS);
    expect(fail(11 * MINUTE_MS)).to.equal(undefined);
  });

  it('remembers an actor for a minute after its release, even if the failures are older', () => {
    quarantined(0);
    release(10 * MINUTE_MS);
    quarantine.forgetHealthy(11 * MINUTE_MS - 1);
    expect(fail(11 * MINUTE_MS - 1)).to.equal(2 * MINUTE_MS);
  });
});
