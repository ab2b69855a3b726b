import { expect } from 'chai';
import fc from 'fast-check';
import { FairScheduler } from '../../src/pipeline/fair-scheduler.ts';

interface Run {
  namespace: string;
  handler: string;
  n: number;
}

const run = (handler: string, n = 0, namespace = 'default'): Run => ({ namespace, handler, n });

function beginAll(scheduler: FairScheduler<Run>): Run[] {
  const begun: Run[] = [];
  for (let next = scheduler.next(); next !== undefined; next = scheduler.next()) begun.push(next);
  return begun;
}

describe('the fair scheduler of handlers', () => {
  it('alternates between handlers', () => {
    const scheduler = new FairScheduler<Run>();
    for (const name of ['a', 'b', 'c']) for (let n = 0; n < 2; n += 1) scheduler.add(run(name, n));
    expect(beginAll(scheduler).map(({ handler, n }) => `${handler}${n}`)).to.deep.equal([
      'a0',
      'b0',
      'c0',
      'a1',
      'b1',
      'c1',
    ]);
  });

  it('gives one handler at most a quarter of the capacity', () => {
    const scheduler = new FairScheduler<Run>();
    for (let n = 0; n < 1_000; n += 1) scheduler.add(run('hangs', n));
    expect(beginAll(scheduler)).to.have.lengthOf(25);
    expect(scheduler.running).to.deep.equal({ used: 25, limit: 100 });
    scheduler.add(run('other'));
    expect(scheduler.next()).to.include({ handler: 'other' });
  });

  it('distinguishes handlers of one name in two namespaces', () => {
    const scheduler = new FairScheduler<Run>();
    for (let n = 0; n < 100; n += 1) scheduler.add(run('hangs', n));
    beginAll(scheduler);
    scheduler.add(run('hangs', 0, 'dev'));
    expect(scheduler.next()).to.include({ namespace: 'dev' });
  });

  it('leaves capacity while ten handlers hang one after the other', () => {
    const scheduler = new FairScheduler<Run>();
    for (let hanging = 0; hanging < 10; hanging += 1) {
      for (let n = 0; n < 1_000; n += 1) scheduler.add(run(`hangs-${hanging}`, n));
      beginAll(scheduler);
    }
    scheduler.add(run('other'));
    expect(scheduler.next()).to.include({ handler: 'other' });
  });

  it('reuses the capacity of a finished run', () => {
    const scheduler = new FairScheduler<Run>();
    for (let n = 0; n < 30; n += 1) scheduler.add(run('a', n));
    const [first] = beginAll(scheduler);
    if (first !== undefined) scheduler.finished(first);
    expect(beginAll(scheduler).map(({ n }) => n)).to.deep.equal([25]);
  });

  it('removes the waiting runs of one namespace only', () => {
    const scheduler = new FairScheduler<Run>();
    for (let n = 0; n < 30; n += 1) for (const namespace of ['dev', 'default']) scheduler.add(run('a', n, namespace));
    const begun = beginAll(scheduler).filter(({ namespace }) => namespace === 'dev');
    const removed = scheduler.removeWaiting('dev');
    expect([...begun, ...removed].map(({ n }) => n)).to.deep.equal(Array.from({ length: 30 }, (_, n) => n));
    expect(scheduler.next()).to.equal(undefined);
    for (const one of begun) scheduler.finished(one);
    expect(beginAll(scheduler).every(({ namespace }) => namespace === 'default')).to.equal(true);
  });

  it('runs everything once, in the order of each handler, within its limits', () => {
    const step = fc.oneof(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), fc.constant('end'));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
        const scheduler = new FairScheduler<Run>();
        const running: Run[] = [];
        const seen = new Map<string, number>();
        const begin = (): void => {
          for (const one of beginAll(scheduler)) {
            expect(one.n).to.equal(seen.get(one.handler) ?? 0);
            seen.set(one.handler, one.n + 1);
            running.push(one);
          }
          expect(running).to.have.lengthOf.at.most(100);
          for (const name of seen.keys()) {
            expect(running.filter(({ handler }) => handler === name)).to.have.lengthOf.at.most(25);
          }
        };
        const added = new Map<string, number>();
        for (const what of steps) {
          const ended = what === 'end' ? running.shift() : undefined;
          if (ended !== undefined) scheduler.finished(ended);
          if (what !== 'end') {
            scheduler.add(run(what, added.get(what) ?? 0));
            added.set(what, (added.get(what) ?? 0) + 1);
          }
          begin();
        }
        for (let ended = running.shift(); ended !== undefined; ended = running.shift()) {
          scheduler.finished(ended);
          begin();
        }
        expect(seen).to.deep.equal(added);
        expect(scheduler.running.used).to.equal(0);
      }),
    );
  });
});
