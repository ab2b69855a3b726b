import { expect } from 'chai';
import { LRUCache } from 'lru-cache';
import { LogThrottle } from '../../src/rules/log-throttle.ts';

describe('a log throttle', () => {
  const throttle = (max = 10) => new LogThrottle(new LRUCache({ max }));

  it('lets one line a minute pass for each subject, with the number of occurrences since the last one', () => {
    const lines = throttle();
    expect([0, 1, 59_999].map((atMs) => lines.note('a', atMs))).to.deep.equal([1, undefined, undefined]);
    expect(lines.note('b', 59_999)).to.equal(1);
    expect(lines.note('a', 60_000)).to.equal(3);
    expect(lines.note('a', 120_000)).to.equal(1);
  });

  it('lets a line pass for a subject that was dropped from the cache', () => {
    const lines = throttle(1);
    expect(['a', 'b', 'a'].map((subject) => lines.note(subject, 0))).to.deep.equal([1, 1, 1]);
  });
});
