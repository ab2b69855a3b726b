import { expect } from 'chai';
import fc from 'fast-check';
import { type Event, parseEvent } from '../../src/resources/event.ts';
import { loadQuickJs } from '../../src/sandbox/limited-module.ts';
import { FilterEngine } from '../../src/sandbox/filter-engine.ts';
import type { FilterResult } from '../../src/sandbox/messages.ts';
import { pureExpression } from '../../src/sandbox/pure-expression.ts';
import { proxyEvent } from '../support/example-events.ts';

const NOW_MS = 1_700_000_010_500;
const EVENT: Event = parseEvent(
  proxyEvent('web-1', 'disk', {
    status: 2,
    output: 'CRITICAL: 97 % used',
    interval: 60,
    handlers: ['mail', 'chat'],
    history: [
      { status: 0, executed: 1 },
      { status: 2, executed: 2 },
    ],
  }),
);

const PURE = [
  'event.check.status > 1',
  '/^web-\\d+$/.test(event.entity.name) && event.check.output.match(/(\\d+) %/)[1] > 90',
  'event.check.handlers.some(function (h) { return h.indexOf("m") === 0; })',
  'event.check.handlers.map((h) => h.length).reduce((a, b) => a + b) === 8',
  'event.check.history[event.check.history.length - 2].status === 0',
  'Object.keys(event.check.labels).length === 0',
  'JSON.stringify(event).length > 100',
  'event?.check?.nope?.x === undefined',
  'new RegExp("^w").test(event.entity.name)',
  'parseInt(event.check.output.split(" ")[1], 10) === 97',
  '`${event.check.name}!` === "disk!"',
  'Math.max(1, event.check.status) === 2 && [1, 2].includes(event.check.status)',
  'hour(event.timestamp) >= 0 && seconds_since(event.timestamp) !== 1',
  '({ a: event.check.status }).a === 2',
  '"status" in event.check && event.hasOwnProperty("metrics")',
  'event.check.labels.nope.x',
  'event.check.hasOwnProperty("proxy_requests") && event.check.proxy_requests === undefined',
];

const IMPURE = [
  'x = 1',
  'event.check.status = 0; true',
  'event.check.handlers.push("z")',
  'event.check.handlers.sort()[0] === "chat"',
  'delete event.check',
  'this.x',
  'nope',
  '(function () { return this; })()',
  '(function () { x = 1; return true; })()',
  '(function f() { return f(); })()',
  'eval("x = 1")',
  'new Function("x = 1")()',
  '[].constructor.constructor("x = 1")()',
  'event["con" + "structor"]',
  'event[event.check.name]',
  'Object.assign(Math, { x: 1 })',
  'Object.defineProperty(Object.prototype, "x", { value: 1 })',
  'Array.prototype.x',
  '({ __proto__: [] })',
  'event.check.labels.__proto__',
  'event.check.labels.__defineGetter__("x", function () { return 1; })',
  '[].concat.call([], [])',
  '((x = 1) => x)()',
  '(({ a }) => a)(event)',
  '[...event.check.handlers]',
  'console.log("x")',
  'Math',
  'Math.x',
  'String.raw``',
  'tag`x`',
  'async () => 1',
  'function f() {}',
  'import("x")',
  'arguments',
];

describe('a pure expression', () => {
  let engine: FilterEngine;

  before(async () => {
    engine = new FilterEngine(await loadQuickJs(), () => performance.now());
  });

  for (const expression of PURE) {
    it(`is ${expression}`, () => {
      expect(pureExpression(expression)).to.be.an('object');
    });
  }

  for (const expression of IMPURE) {
    it(`is not ${expression}`, () => {
      expect(pureExpression(expression)).to.equal(undefined);
    });
  }

  const membersOf = (expression: string): string[] | undefined => {
    const members = pureExpression(expression)?.members;
    return members && [...members].sort();
  };

  it('names the members of the event that it reads', () => {
    expect(membersOf('event.check.status > 1 && event.timestamp > 0')).to.deep.equal(['check.status', 'timestamp']);
    expect(membersOf('event.check.labels["a"].length > event.entity.name')).to.deep.equal([
      'check.labels',
      'entity.name',
    ]);
    expect(membersOf('event.check.hasOwnProperty("status")')).to.deep.equal(['check']);
    expect(membersOf('event["check"].status')).to.deep.equal(['check']);
    expect(membersOf('Object.keys(event).length')).to.equal(undefined);
  });

  const decide = (expression: string, event = EVENT, limitMs = Infinity): FilterResult => {
    const filters = [{ name: 'x', action: 'deny' as const, expressions: [expression], libraries: [] }];
    const limits = { nowMs: NOW_MS, limitMs, lookedUp: {}, spentMs: 0 };
    const { result } = engine.decide(
      { type: 'filter', namespace: 'default', event, filters, ...limits },
      () => undefined,
    );
    return 'wanted' in result ? expect.fail('no event is looked up') : result;
  };

  /** The same in a fresh context: a block is no expression. */
  const decideAfresh = (expression: string): FilterResult => {
    const result = decide(`{\n${expression}\n}`);
    if ('notes' in result)
      return { ...result, notes: result.notes.map((note) => note.replace(/\{\n([^]*)\n\}/, '$1')) };
    return 'expression' in result ? { ...result, expression } : result;
  };

  it('has the value that it has in a fresh context, in any order', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(PURE), (expressions) => {
        for (const expression of expressions)
          expect(decide(expression), expression).to.deep.equal(decideAfresh(expression));
      }),
      { numRuns: 20 },
    );
  });

  it('has the value of its own event', () => {
    const expression = '/^\\w+$/.test(event.check.name) && event.check.status === 2 && event.metrics === undefined';
    const ok = parseEvent(proxyEvent('web-1', 'disk', { status: 0 }));
    expect([decide(expression).passes, decide(expression, ok).passes, decide(expression).passes]).to.deep.equal([
      false,
      true,
      false,
    ]);
  });

  it('is stopped at the limits of time and stack, and others go on', () => {
    const slow = `/^(a+)+$/.test("${'a'.repeat(40)}!")`;
    expect(decide(slow, EVENT, 50)).to.deep.equal({ passes: false, filter: 'x', failed: 'took too long' });
    const long = '"x".repeat(1e6).replace(/x/g, () => "y".repeat(1e6))';
    expect(decide(long, EVENT, 5_000)).to.have.property('failed');
    expect(decide('event.check.status === 2')).to.deep.include({ passes: false, value: 'true' });
  });

  it('is not shared between namespaces, of which 16 keep a context', () => {
    for (let n = 0; n < 20; n += 1) {
      const filters = [
        { name: 'x', action: 'deny' as const, expressions: ['/a/.test(event.check.name)'], libraries: [] },
      ];
      const request = {
        type: 'filter' as const,
        namespace: `n${n}`,
        event: EVENT,
        filters,
        nowMs: NOW_MS,
        limitMs: 50,
        lookedUp: {},
        spentMs: 0,
      };
      expect(engine.decide(request, () => undefined).result).to.include({ passes: true });
    }
  });
});
