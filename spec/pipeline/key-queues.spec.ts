import { expect } from 'chai';
import fc from 'fast-check';
import { KeyQueues, DEFAULT_PATIENCE_MS } from '../../src/pipeline/key-queues.ts';
import type { PendingRun } from '../../src/pipeline/pending-runs.ts';
import { ManualClock } from '../support/manual-clock.ts';

type Step =
  | { type: 'add'; key: string; handler: string }
  /** Of the runs that may run, counted modulo their number. */
  | { type: 'end' | 'retry'; which: number }
  | { type: 'settle'; which: number }
  | { type: 'pass'; ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constant('add'), key: keys(), handler: fc.constantFrom('a', 'b', 'c') }),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('end'), which: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('retry'), which: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('settle'), which: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('pass'), ms: fc.integer({ min: 1, max: 3_000 }) }) },
);

function keys(): fc.Arbitrary<string> {
  return fc.constantFrom('default/sw-1/disk', 'default/sw-1/cpu');
}

/** Runs that begin as soon as they may, and hang until a step ends them. */
class Runs {
  readonly clock = new ManualClock();
  readonly added: PendingRun[] = [];
  readonly begun: PendingRun[] = [];
  /** Runs that let others of their key go on. */
  readonly retried = new Set<PendingRun>();
  readonly queues = new KeyQueues(this.clock, (runs) => {
    for (const run of runs) this.begin(run);
  });

  async take(one: Step): Promise<void> {
    if (one.type === 'add') this.add(one.key, one.handler);
    else if (one.type === 'pass') await this.clock.advance(one.ms);
    else if (one.type === 'settle') this.settle(one.which);
    else this.stepActive(one);
    this.#assertOrder();
  }

  add(key: string, handler: string): PendingRun {
    const run: PendingRun = {
      outboxKey: String(this.added.length),
      key,
      namespace: 'default',
      handler,
      bytes: 1,
      attempts: 0,
      isUnfiltered: false,
      addedMs: this.clock.monotonicMs(),
      retriedSinceMs: undefined,
      dueMs: 0,
      place: 'waits',
      isRunning: false,
      isSettled: false,
    };
    this.added.push(run);
    this.begin(this.queues.add(run));
    return run;
  }

  begin(run: PendingRun | undefined): void {
    if (run === undefined) return;
    this.begun.push(run);
    const before = this.added.slice(0, this.added.indexOf(run)).filter(({ key }) => key === run.key);
    const unended = before.filter((one) => one.place !== 'ended' && !one.isSettled);
    expect(
      unended.filter(({ handler }) => handler === run.handler),
      `runs before ${run.outboxKey} of its key and handler`,
    ).to.deep.equal([]);
    const mayOvertake =
      this.clock.monotonicMs() - run.addedMs >= DEFAULT_PATIENCE_MS ||
      unended.every((one) => this.#isApart(one, before));
    expect(mayOvertake, `${run.outboxKey} may overtake ${unended.map(({ outboxKey }) => outboxKey)}`).to.equal(true);
  }

  active(): PendingRun[] {
    return this.begun.filter(({ place }) => place === 'leads' || place === 'apart');
  }

  waiting(): PendingRun[] {
    return this.added.filter(({ place, isSettled }) => (place === 'waits' || place === 'held') && !isSettled);
  }

  stepActive({ type, which }: { type: 'end' | 'retry'; which: number }): void {
    const active = this.active();
    const run = active[which % active.length];
    if (run === undefined) return;
    if (type === 'retry') this.retried.add(run);
    this.begin(type === 'end' ? this.queues.ended(run) : this.queues.setApart(run));
  }

  /** Ends a run that waits, as one that is given up. */
  settle(which: number): void {
    const waiting = this.waiting();
    const run = waiting[which % waiting.length];
    if (run === undefined) return;
    run.isSettled = true;
    this.begin(this.queues.ended(run));
  }

  /** Whether others need not wait for a run: it was overtaken before, is to be tried again, or is behind such a run. */
  #isApart(run: PendingRun, before: readonly PendingRun[]): boolean {
    return (
      run.place === 'apart' ||
      run.place === 'held' ||
      before.some((one) => one.handler === run.handler && this.retried.has(one))
    );
  }

  /** After its patience, a run waits for earlier ones of its key and handler only. */
  #assertOrder(): void {
    const nowMs = this.clock.monotonicMs();
    for (const run of this.waiting()) {
      if (nowMs - run.addedMs < DEFAULT_PATIENCE_MS) continue;
      const before = this.added.slice(0, this.added.indexOf(run));
      const isBehind = before.some(
        (one) => one.key === run.key && one.handler === run.handler && one.place !== 'ended' && !one.isSettled,
      );
      expect(isBehind, `${run.outboxKey} waits for a run of its handler`).to.equal(true);
    }
  }
}

describe('the runs of an event key', () => {
  it('keep the order of each handler, and wait for other handlers for two seconds at most', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const runs = new Runs();
        for (const one of steps) await runs.take(one);
        while (runs.active().length > 0) await runs.take({ type: 'end', which: 0 });
        expect(runs.waiting()).to.deep.equal([]);
        const [last] = runs.added;
        if (last !== undefined) expect(runs.add(last.key, 'z').place).to.equal('leads');
      }),
      { numRuns: 100 },
    );
  });

  it('go one after the other in the order in which they were added while no time passes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          step.filter(({ type }) => type === 'add' || type === 'end'),
          { maxLength: 60 },
        ),
        async (steps) => {
          const runs = new Runs();
          for (const one of steps) await runs.take(one);
          while (runs.active().length > 0) await runs.take({ type: 'end', which: 0 });
          const orderOf = (all: readonly PendingRun[], wanted: string): string[] =>
            all.filter(({ key }) => key === wanted).map(({ outboxKey }) => outboxKey);
          for (const { key } of runs.added) expect(orderOf(runs.begun, key)).to.deep.equal(orderOf(runs.added, key));
        },
      ),
      { numRuns: 100 },
    );
  });

  it('are not resumed after a stop', async () => {
    const runs = new Runs();
    runs.add('default/sw-1/disk', 'a');
    runs.add('default/sw-1/disk', 'b');
    runs.queues.stop();
    await runs.clock.advance(2 * DEFAULT_PATIENCE_MS);
    expect(runs.begun).to.have.lengthOf(1);
  });

  it('that wait are removed with their namespace, whose active runs end alone', () => {
    const runs = new Runs();
    const [first, second] = [runs.add('default/sw-1/disk', 'a'), runs.add('default/sw-1/disk', 'b')];
    const other = runs.add('dev/sw-1/disk', 'a');
    const otherWaits = runs.add('dev/sw-1/disk', 'a');
    expect(runs.queues.removeNamespace('default')).to.deep.equal([second]);
    expect(runs.queues.ended(first)).to.equal(undefined);
    expect(runs.queues.ended(other)).to.equal(otherWaits);
  });
});
