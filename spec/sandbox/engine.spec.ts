import { expect } from 'chai';
import { loadQuickJs } from '../../src/sandbox/limited-module.ts';
import { Engine } from '../../src/sandbox/engine.ts';
import type { EvaluationResult } from '../../src/sandbox/messages.ts';

/** 2018-03-05T15:18:33Z, a Monday. */
const NOW_MS = 1_520_263_113_000;
const WEB = JSON.stringify({
  name: 'web-1',
  labels: { region: 'eu', __proto__: 1 },
  subscriptions: ['linux'],
  deregister: false,
});

const OUT_OF_TIME: EvaluationResult = { type: 'limit', error: 'took too long' };

describe('the engine of users’ JavaScript', () => {
  let engine: Engine;

  before(async () => {
    const quickJs = await loadQuickJs();
    engine = new Engine(quickJs, () => performance.now());
  });

  const within = (limitMs: number, ...programs: string[]): EvaluationResult =>
    engine.evaluate({ programs, variable: 'entity', nowMs: NOW_MS, limitMs }, WEB);
  /** With more time than any of them takes on a busy machine. */
  const evaluate = (...programs: string[]): EvaluationResult => within(20_000, ...programs);

  const results: [string, EvaluationResult['type']][] = [
    ['entity.name === "web-1"', 'holds'],
    ['entity.name === "web-2"', 'fails'],
    ['"x"', 'holds'],
    ['""', 'fails'],
    ['0', 'fails'],
    ['', 'fails'],
    ['[]', 'holds'],
    ['new Boolean(false)', 'holds'],
    ['var a = entity.labels.region; if (a === "eu") { 1; } else { 0; }', 'holds'],
    ['(function () { undeclared = 3; return undeclared; })()', 'holds'],
    ['with (entity) { name === "web-1" }', 'holds'],
    ['010 === 8', 'holds'],
    ['entity.subscriptions.indexOf("linux") >= 0 && Array.isArray(entity.subscriptions)', 'holds'],
    ['/^WEB-\\d$/i.test(entity.name)', 'holds'],
    ['Boolean = function () { return true; }; false', 'fails'],
    ['hour(7323) === 2 && minute(7323) === 2 && second(7323) === 3 && weekday(1520275913) === 1', 'holds'],
    ['hour("7200") === 0 && hour() === 0 && hour(7323.9) === 2 && hour(null) === 0', 'holds'],
    ['seconds_since(1520263103) === 10', 'holds'],
    ['entity.labels.nope.x', 'error'],
    ['nobody', 'error'],
    ['(', 'error'],
    ['return 1', 'error'],
    ['(function f() { return f(); })()', 'limit'],
  ];
  for (const [program, expected] of results) {
    it(`${JSON.stringify(program)}: ${expected}`, () => {
      expect(evaluate(program).type).to.equal(expected);
    });
  }

  it('requires all programs to hold, and shares globals between them', () => {
    expect(evaluate('seen = 1', 'seen === 1')).to.deep.equal({ type: 'holds' });
    expect(evaluate('true', 'false')).to.deep.equal({ type: 'fails' });
    expect(evaluate()).to.deep.equal({ type: 'holds' });
  });

  it('gives each value fresh globals', () => {
    expect(evaluate('Object.prototype.left = 1; left2 = 1; entity.name = "x"; true')).to.deep.equal({ type: 'holds' });
    expect(
      evaluate('typeof left2 === "undefined" && ({}).left === undefined && entity.name === "web-1"'),
    ).to.deep.equal({
      type: 'holds',
    });
  });

  it('reports what a program threw, truncated', () => {
    expect(evaluate('entity.labels.nope.x')).to.deep.equal({
      type: 'error',
      error: "TypeError: cannot read property 'x' of undefined",
    });
    expect(evaluate('throw "no"')).to.deep.equal({ type: 'error', error: 'threw no' });
    const { error } = evaluate(`throw new Error(${JSON.stringify('x'.repeat(1_000))})`) as { error: string };
    expect(error).to.have.lengthOf(200);
  });

  const endless = [
    'while (true) {}',
    'throw { get name() { while (true) {} } }',
    'try { while (true) {} } catch (e) { true }',
    '/^(a+)+$/.test("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!")',
  ];
  for (const program of endless) {
    it(`stops ${program} and continues with the next value`, () => {
      expect(within(50, program)).to.deep.equal({ type: 'limit', error: 'took too long' });
      expect(evaluate('true')).to.deep.equal({ type: 'holds' });
    });
  }

  describe('whose thread is not scheduled for a while', () => {
    const LOOP = 'for (var n = 0; n < 200000; n += 1) {} true';

    /** Runs a loop on a clock that returns these times, and then the last one. Returns the result, and how often it was read. */
    async function onClock(timesMs: readonly number[]): Promise<{ result: EvaluationResult; reads: number }> {
      let reads = 0;
      const nowMs = (): number => timesMs[Math.min(reads++, timesMs.length - 1)] ?? 0;
      const timed = new Engine(await loadQuickJs(), nowMs);
      const task = { programs: [LOOP], variable: 'entity', nowMs: NOW_MS, limitMs: 50 };
      return { result: timed.evaluate(task, WEB), reads };
    }

    it('is not stopped for one gap that is longer than its limit', async () => {
      const { result, reads } = await onClock([0, 150]);
      expect(result).to.deep.equal({ type: 'holds' });
      expect(reads).to.be.above(3);
    });

    it('is stopped after five gaps, or four times its limit by the clock', async () => {
      expect(await onClock([0, 20, 40, 60, 80, 100])).to.deep.equal({ result: OUT_OF_TIME, reads: 6 });
      expect(await onClock([0, 100, 200])).to.deep.equal({ result: OUT_OF_TIME, reads: 3 });
    });
  });

  it('stops a program that uses too much memory and continues with the next value', () => {
    const { type } = within(500, 'var all = []; while (true) all.push(new Array(1000).join("x"));');
    expect(type).to.equal('limit');
    expect(evaluate('true')).to.deep.equal({ type: 'holds' });
  });

  const hostGlobals = [
    'process',
    'require',
    'globalThis.process',
    'setTimeout',
    'fetch',
    'WebAssembly',
    'importScripts',
    'event',
    'sensu',
    'nowMs',
  ];
  it('exposes nothing of the host', () => {
    for (const name of hostGlobals)
      expect(evaluate(`typeof ${name} === "undefined"`), name).to.deep.equal({ type: 'holds' });
    const escapes = [
      'this.constructor.constructor("return process")()',
      'entity.constructor.constructor("return process")()',
      'new Function("return process.env")()',
      '(0, eval)("process")',
      'import("node:fs").then; false',
    ];
    for (const escape of escapes) expect(evaluate(escape).type, escape).to.be.oneOf(['error', 'fails']);
  });
});
