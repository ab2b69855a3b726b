import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { HeapGuard, type HeapMode } from '../../../src/main/process/heap-guard.ts';

/** Tries in several modes whether V8 accepts code that was compiled before. It rejects code that was compiled with other flags. */
const PROGRAM = `
  import { Script } from 'node:vm';
  import { setHeapMode } from ${JSON.stringify(new URL('../../../src/main/process/heap-guard.ts', import.meta.url))};
  const source = '(function () { return 1; })';
  const cachedData = new Script(source).createCachedData();
  const accepts = (mode, index) => {
    setHeapMode(mode);
    return [mode, !new Script(source, { cachedData, filename: 'file-' + index }).cachedDataRejected];
  };
  console.log(JSON.stringify(['normal', 'slowGrowth', 'compacting', 'slowGrowth', 'normal'].map(accepts)));
`;

describe('the heap after a mass disconnect', () => {
  let clock: { nowMs: number; timers: Set<{ atMs: number; fire: () => void }> };
  let modes: HeapMode[];
  let guard: HeapGuard;

  beforeEach(() => {
    clock = { nowMs: 0, timers: new Set() };
    modes = [];
    const after = (delayMs: number, fire: () => void) => {
      const timer = { atMs: clock.nowMs + delayMs, fire };
      clock.timers.add(timer);
      return () => void clock.timers.delete(timer);
    };
    guard = new HeapGuard({ after, monotonicMs: () => clock.nowMs }, (mode) => modes.push(mode));
  });

  function advance(ms: number): void {
    clock.nowMs += ms;
    for (const timer of clock.timers) {
      if (timer.atMs > clock.nowMs) continue;
      clock.timers.delete(timer);
      timer.fire();
    }
  }

  const close = (count: number): void => {
    for (let n = 0; n < count; n += 1) guard.connectionClosed();
  };

  it('grows slowly after a hundred connections that closed within a second, is compacted after 15 s, and is normal after a minute', () => {
    close(99);
    expect(modes).to.deep.equal([]);
    close(1);
    advance(14_999);
    expect(modes).to.deep.equal(['slowGrowth']);
    advance(1);
    advance(44_999);
    expect(modes).to.deep.equal(['slowGrowth', 'compacting']);
    advance(1);
    expect(modes).to.deep.equal(['slowGrowth', 'compacting', 'normal']);
  });

  it('begins again at the next mass disconnect', () => {
    close(100);
    advance(10_000);
    close(100);
    advance(14_999);
    expect(modes).to.deep.equal(['slowGrowth']);
    advance(1);
    close(100);
    expect(modes).to.deep.equal(['slowGrowth', 'compacting', 'slowGrowth']);
    advance(15_000);
    advance(45_000);
    expect(modes).to.deep.equal(['slowGrowth', 'compacting', 'slowGrowth', 'compacting', 'normal']);
  });

  it('stays normal while connections close in turn', () => {
    for (let second = 0; second < 10; second += 1) {
      close(60);
      advance(1_001);
    }
    expect(modes).to.deep.equal([]);
  });

  it('returns to the normal mode at the stop', () => {
    close(100);
    guard.stop();
    advance(60_000);
    expect(modes).to.deep.equal(['slowGrowth', 'normal']);
    close(100);
    advance(15_000);
    guard.stop();
    expect(modes).to.deep.equal(['slowGrowth', 'normal', 'slowGrowth', 'compacting', 'normal']);
    expect(clock.timers.size).to.equal(0);
  });

  it('changes flags that V8 has, and undoes them', () => {
    const { stdout, stderr } = spawnSync(
      process.execPath,
      ['--import', 'tsx', '--input-type', 'module', '--eval', PROGRAM],
      {
        encoding: 'utf8',
      },
    );
    expect(stderr).to.equal('');
    expect(JSON.parse(stdout)).to.deep.equal([
      ['normal', true],
      ['slowGrowth', false],
      ['compacting', false],
      ['slowGrowth', false],
      ['normal', true],
    ]);
  });
});
