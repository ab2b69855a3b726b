import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { systemClock } from '../../src/main/process/system-clock.ts';
import type { PredicateTask } from '../../src/sandbox/messages.ts';
import { Overloaded } from '../../src/resources/errors.ts';
import { Sandbox } from '../../src/sandbox/sandbox.ts';
import { eventually } from '../support/eventually.ts';
import { RecordedLog } from '../support/recorded-log.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const UNENDING = 'while (true) {}';
/** They look too seldom at whether they should stop. */
const UNSTOPPABLE = ['new Array(1e9) + ""', '(function f() { try { f(); } finally { f(); } })()'];

describe('the sandbox', () => {
  let sandbox: Sandbox;
  let log: RecordedLog;

  beforeEach(() => {
    log = new RecordedLog();
    sandbox = new Sandbox({ clock: systemClock, log });
  });

  afterEach(() => sandbox.stop());

  const task = (program: string, values: readonly unknown[]): PredicateTask => ({
    programs: [program],
    variable: 'entity',
    values: values.map((value) => JSON.stringify(value)),
    nowMs: 0,
    limitMs: 50,
  });
  const OWNER = { namespace: 'default', name: 'check' };
  const typesOf = async (program: string, values: readonly unknown[]): Promise<string[]> =>
    (await sandbox.evaluate(task(program, values), OWNER)).map(({ type }) => type);

  it('evaluates each value, in order', async () => {
    expect(await typesOf('entity > 2', [1, 2, 3, 4])).to.deep.equal(['fails', 'fails', 'holds', 'holds']);
    expect(await typesOf('entity > 2', [])).to.deep.equal([]);
  });

  it('evaluates concurrent tasks independently', async () => {
    const tasks = Array.from({ length: 20 }, (_, limit) => typesOf(`entity < ${limit}`, [5, 15]));
    const results = await Promise.all(tasks);
    expect(results.map((types) => types.filter((type) => type === 'holds').length)).to.deep.equal(
      Array.from({ length: 20 }, (_, limit) => Number(limit > 5) + Number(limit > 15)),
    );
  });

  it('stops a program that does not end, for its value only', async () => {
    expect(await typesOf('if (entity === 2) while (true) {} true', [1, 2, 3])).to.deep.equal([
      'holds',
      'limit',
      'holds',
    ]);
    expect(log.lines).to.deep.equal([]);
  });

  for (const program of UNSTOPPABLE) {
    it(`terminates the thread of ${program} at the first attempt and evaluates the other values`, async () => {
      expect(await typesOf(`entity === 2 ? ${program} : true`, [1, 2, 3])).to.deep.equal(['holds', 'limit', 'holds']);
      expect(log.lines.map(({ msg }) => msg)).to.deep.equal(['sandbox thread ended']);
    });
  }

  it('skips the remaining values after a program was stopped at three', async () => {
    const results = await sandbox.evaluate(
      task(
        'while (true) {}',
        Array.from({ length: 100 }, (_, n) => n),
      ),
      OWNER,
    );
    expect(results).to.have.lengthOf(100);
    expect(results.filter((result) => result.type === 'limit' && result.error === 'took too long')).to.have.lengthOf(3);
    expect(results.at(-1)).to.deep.equal({ type: 'limit', error: 'not tried' });
    expect(await typesOf('true', [1])).to.deep.equal(['holds']);
  });

  it('rejects tasks beyond its limit, and all tasks once stopped', async () => {
    const outcomes = Array.from({ length: 1_010 }, () =>
      sandbox.evaluate(task('true', [1]), OWNER).then(
        () => 'decided',
        (error: Error) => error.message,
      ),
    );
    expect(sandbox.waiting).to.deep.include({ used: 1_000, limit: 1_000, refused: 10 });
    await sandbox.stop();
    const counts = new Map<string, number>();
    for (const outcome of await Promise.all(outcomes)) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
    expect(Object.fromEntries(counts)).to.deep.equal({
      'too many expressions wait to be evaluated': 10,
      'the sandbox is stopped': 1_000,
    });
    expect(await sandbox.evaluate(task('true', [1]), OWNER).catch((error: Error) => error.message)).to.equal(
      'the sandbox is stopped',
    );
  });

  /** Evaluates the program for each value of some tasks, and adds the owner to `done` when a task is done. */
  function evaluateFor(namespace: string, count: number, program: string, values: number, done: string[]) {
    const evaluated = Array.from({ length: count }, (_, n) =>
      sandbox.evaluate(task(program, Array<number>(values).fill(1)), { namespace, name: `check-${n}` }).then(
        () => void done.push(namespace),
        () => void done.push(`${namespace} refused`),
      ),
    );
    return Promise.all(evaluated);
  }

  it('serves a namespace before the waiting loops of another one', async () => {
    const done: string[] = [];
    void evaluateFor('attack', 40, 'while (true) {}', 3, done);
    await evaluateFor('honest', 5, 'true', 50, done);
    expect(done.filter((namespace) => namespace === 'attack')).to.have.length.below(20);
    expect(log.lines).to.deep.equal([]);
  });

  it('interrupts a long task to serve the tasks of others', async () => {
    const done: string[] = [];
    const slow = 'var end = Date.now() + 20; while (Date.now() < end) {}';
    void evaluateFor('slow', 4, slow, 50, done);
    await evaluateFor('honest', 5, 'true', 50, done);
    expect(done).to.deep.equal(Array(5).fill('honest'));
  });

  it('leaves a thread to the others when a namespace has programs that do not stop', async () => {
    const done: string[] = [];
    const loops = evaluateFor('attack', 4, UNSTOPPABLE[0] ?? '', 1, done);
    await evaluateFor('attack', 1, 'while (true) {}', 1, done);
    const before = log.lines.length;
    for (let n = 0; n < 20; n += 1) await evaluateFor('honest', 1, 'true', 50, done);
    expect(log.lines.length - before).to.be.at.most(2);
    await sandbox.stop();
    await loops;
  });

  it('gives the place of the newest task of the namespace with the most tasks to another namespace', async () => {
    const done: string[] = [];
    const loops = evaluateFor('attack', 1_010, 'while (true) {}', 3, done);
    expect(sandbox.waiting).to.deep.include({ used: 1_000, refused: 10 });
    await evaluateFor('honest', 2, 'true', 1, done);
    expect(done.filter((each) => each === 'honest')).to.have.lengthOf(2);
    expect(done.filter((each) => each === 'attack refused')).to.have.length.above(10);
    await sandbox.stop();
    await loops;
  });

  it('counts its tasks, the programs that it stopped and the threads that it ended', async () => {
    await typesOf('entity === 1 ? true : while_true()', [1]);
    await typesOf('while (true) {}', [1]);
    await typesOf(UNSTOPPABLE[0] ?? '', [1]);
    expect(sandbox.counts).to.deep.equal({ evaluations: 3, stopped: 2, threadsEnded: 1 });
  });

  it('rejects tasks when no thread can be started', async () => {
    const broken = new Sandbox({ clock: systemClock, log, worker: new URL('file:///nowhere/worker.js') });
    const error = await broken.evaluate(task('true', [1]), OWNER).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(Overloaded).with.property('message', 'the sandbox cannot be started');
    await broken.stop();
  });

  it('runs its tasks in the threads that it has when another one cannot be started', async () => {
    const directory = await temporaryDirectory();
    const breaks = join(directory.path, 'breaks');
    const worker = await workerAfter(
      directory.path,
      `if (require('fs').existsSync(${JSON.stringify(breaks)})) throw new Error('broken');`,
    );
    const half = new Sandbox({ clock: systemClock, log, worker });
    try {
      await half.evaluate(task('true', [1]), OWNER);
      await writeFile(breaks, '');
      const owners = ['a', 'b', 'c'].map((namespace) => ({ namespace, name: 'check' }));
      const hasFailed = (): boolean => log.lines.some(({ msg }) => msg === 'sandbox thread ended');
      while (!hasFailed()) {
        const results = await Promise.all(owners.map((owner) => half.evaluate(task(UNENDING, [1]), owner)));
        expect(results.flat().map(({ type }) => type)).to.deep.equal(['limit', 'limit', 'limit']);
      }
      await rm(breaks);
      await eventually(
        () => half.threads,
        (threads) => threads > 1,
      );
    } finally {
      await half.stop();
      await directory.remove();
    }
  });

  it('runs tasks of restricted namespaces in its only thread when no other one can be started', async () => {
    const directory = await temporaryDirectory();
    const started = JSON.stringify(join(directory.path, 'started'));
    // The start of a second thread fails, because the file exists.
    const worker = await workerAfter(directory.path, `require('fs').writeFileSync(${started}, '', { flag: 'wx' });`);
    const single = new Sandbox({ clock: systemClock, log, worker });
    try {
      for (const round of [1, 2]) {
        const [result] = await single.evaluate(task(UNENDING, [round]), OWNER);
        expect(result).to.have.property('type', 'limit');
      }
      expect(single.threads).to.be.within(1, 2);
    } finally {
      await single.stop();
      await directory.remove();
    }
  });
});

/** Writes the script of a worker that runs `code` first. Returns its address. */
async function workerAfter(directory: string, code: string): Promise<URL> {
  const script = join(directory, 'worker.cjs');
  const worker = fileURLToPath(new URL('../../dist/sandbox/worker.cjs', import.meta.url));
  await writeFile(script, `${code}\nrequire(${JSON.stringify(worker)});`);
  return pathToFileURL(script);
}
