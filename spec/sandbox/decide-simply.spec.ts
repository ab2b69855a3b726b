import { expect } from 'chai';
import fc from 'fast-check';
import { type Event, parseEvent } from '../../src/resources/event.ts';
import { loadQuickJs } from '../../src/sandbox/limited-module.ts';
import { decideSimply } from '../../src/sandbox/decide-simply.ts';
import { FilterEngine } from '../../src/sandbox/filter-engine.ts';
import type { FilterResult, StoredFilter } from '../../src/sandbox/messages.ts';
import { proxyEvent } from '../support/example-events.ts';

const NOW_MS = 1_700_000_010_500;
const RUNS = 1_500;

const filter = (action: 'allow' | 'deny', ...expressions: string[]): StoredFilter => ({
  name: 'x',
  action,
  expressions,
  libraries: [],
});

const MEMBERS = [
  'event.check.status',
  'event.check.occurrences',
  'event.check.interval',
  'event.check.output',
  'event.check.name',
  'event.check.cron',
  'event.check.duration',
  'event.check.state',
  'event.check.labels.team',
  'event.check.labels["odd-key"]',
  'event.check.labels.nope',
  'event.check.labels.toString',
  'event.check.labels.length',
  'event.check.metadata.name',
  'event.check.proxy_requests',
  'event.check.handlers',
  'event.check.handlers[0]',
  'event.check.handlers.length',
  'event.check.history[event.check.history.length - 2].status',
  'event.check.history[9]',
  'event.check.subscriptions',
  'event.check.nope.deep',
  'event.entity.name',
  'event.entity.entity_class',
  'event.entity.labels',
  'event.entity.system.os',
  'event.is_incident',
  'event.is_resolution',
  'event.has_metrics',
  'event.metrics',
  'event.metrics.points',
  'event.id',
  'event.id.length',
  'event.namespace',
  'event.nope',
  'event.timestamp',
  'event.constructor',
  'event',
];
const LITERALS = [
  '0',
  '1',
  '2',
  '1.5',
  '-1',
  '60',
  '""',
  '"a"',
  '"disk"',
  '"2"',
  '" 2 "',
  'true',
  'false',
  'null',
  'undefined',
  'NaN',
  'Infinity',
  '010',
  '1e21',
];
const BINARY = [
  '==',
  '!=',
  '===',
  '!==',
  '<',
  '<=',
  '>',
  '>=',
  '+',
  '-',
  '*',
  '/',
  '%',
  '&',
  '|',
  '^',
  '<<',
  '>>',
  '>>>',
  'in',
  '&&',
  '||',
  '??',
];
const UNARY = ['!', '-', '+', '~', 'typeof ', 'void '];
const METHODS = ['indexOf', 'includes', 'startsWith', 'endsWith', 'hasOwnProperty'];
const FUNCTIONS = ['hour', 'minute', 'second', 'weekday', 'seconds_since'];

const { tree: expressions } = fc.letrec<{ tree: string; leaf: string }>((tie) => ({
  leaf: fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...MEMBERS) }, fc.constantFrom(...LITERALS)),
  tree: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    tie('leaf'),
    fc.tuple(tie('tree'), fc.constantFrom(...BINARY), tie('tree')).map(([a, op, b]) => `((${a}) ${op} (${b}))`),
    fc.tuple(fc.constantFrom(...UNARY), tie('tree')).map(([op, a]) => `(${op}(${a}))`),
    fc.tuple(tie('tree'), tie('tree'), tie('tree')).map(([a, b, c]) => `((${a}) ? (${b}) : (${c}))`),
    fc.tuple(tie('leaf'), fc.constantFrom(...METHODS), tie('leaf')).map(([a, method, b]) => `(${a}).${method}(${b})`),
    fc.tuple(fc.array(tie('leaf'), { maxLength: 3 }), tie('leaf')).map(([a, b]) => `[${a.join(', ')}].indexOf(${b})`),
    fc.tuple(fc.constantFrom(...FUNCTIONS), tie('leaf')).map(([name, a]) => `${name}(${a})`),
    fc.tuple(tie('leaf'), tie('leaf')).map(([a, b]) => `(${a})[${b}]`),
  ),
}));

const events: fc.Arbitrary<Event> = fc
  .record({
    status: fc.constantFrom(0, 1, 2),
    output: fc.constantFrom('', 'CRITICAL disk é', '2', 'x'.repeat(200)),
    interval: fc.constantFrom(10, 60),
    labels: fc.dictionary(
      fc.constantFrom('team', 'odd-key', 'toString', 'length', '__proto__'),
      fc.constantFrom('', 'ops', '2'),
    ),
    handlers: fc.subarray(['mail', 'disk', '2']),
    history: fc.array(fc.record({ status: fc.constantFrom(0, 2), executed: fc.constant(1) }), { maxLength: 3 }),
    hasMetrics: fc.boolean(),
  })
  .map(({ hasMetrics, labels, ...check }) => {
    const { metadata, ...result } = check as typeof check & { metadata?: object };
    const event = parseEvent(proxyEvent('web-1', 'disk', { ...result, ...metadata })) as Event & {
      check: NonNullable<Event['check']>;
    };
    event.check.metadata.labels = labels;
    const metrics = hasMetrics
      ? { handlers: null, points: [{ name: 'a', value: 1, timestamp: 2, tags: null }] }
      : undefined;
    return { ...event, metrics };
  });

describe('the decision of simple filters', () => {
  let engine: FilterEngine;

  before(async () => {
    engine = new FilterEngine(await loadQuickJs(), () => performance.now());
  });

  const inEngine = (filters: StoredFilter[], event: Event): FilterResult => {
    const limits = { nowMs: NOW_MS, limitMs: Infinity, lookedUp: {}, spentMs: 0 };
    const { result } = engine.decide(
      { type: 'filter', namespace: 'default', event, filters, ...limits },
      () => undefined,
    );
    return 'wanted' in result ? expect.fail('no event is looked up') : result;
  };

  it(`is that of the engine, for ${RUNS} random expressions and events`, function () {
    this.timeout(120_000);
    let decided = 0;
    fc.assert(
      fc.property(
        expressions,
        events,
        fc.constantFrom('allow' as const, 'deny' as const),
        (expression, event, action) => {
          const filters = [filter(action, expression)];
          const simple = decideSimply(filters, event, NOW_MS);
          if (simple === undefined) return;
          decided += 1;
          expect(inEngine(filters, event)).to.deep.equal(simple);
        },
      ),
      { numRuns: RUNS },
    );
    expect(decided).to.be.above(RUNS / 4);
  });

  const EVENT = parseEvent(
    proxyEvent('web-1', 'disk', { status: 2, output: 'CRITICAL', interval: 60, handlers: ['a'] }),
  );
  const simply = (...expressions: string[]) => decideSimply([filter('allow', ...expressions)], EVENT, NOW_MS);

  const SIMPLE = [
    'event.check.status != 0',
    'event.check.occurrences == 1 || event.check.occurrences % (3600 / event.check.interval) == 0',
    'event.entity.labels["region"] === undefined && event.check.output.indexOf("CRIT") === 0',
    'event.is_incident && !event.is_silenced',
    '[1, 2].indexOf(event.check.status) >= 0',
    'weekday(event.timestamp) >= 0 && hour(event.timestamp) >= 0',
    'event.check.handlers.includes("a") && "name" in event.check && event.check.hasOwnProperty("name")',
    '',
    '// nothing',
  ];
  for (const expression of SIMPLE) {
    it(`is made for ${JSON.stringify(expression)}`, () => {
      expect(simply(expression)).to.be.an('object');
    });
  }

  const LEFT = [
    '/a/.test(event.check.name)',
    'event.check.status = 0',
    'event.check.nope.x',
    'nope',
    'event.check.handlers.map(function (h) { return h; })',
    'event.check.toString()',
    'event.check.output.repeat(1e9)',
    'while (true) {}',
    'true; true',
    'event.labels === event.metadata.labels',
    'event.check.handlers == "a"',
    '2 ** 0.5',
    '`a`',
    `${'!'.repeat(2_000)}0`,
  ];
  for (const expression of LEFT) {
    it(`is left to the engine for ${JSON.stringify(expression.slice(0, 60))}`, () => {
      expect(simply(expression)).to.equal(undefined);
    });
  }

  it('names the filter, the expression and its value', () => {
    const filters = [filter('allow', 'true'), { ...filter('deny', 'event.check.output'), name: 'y' }];
    expect(decideSimply(filters, EVENT, NOW_MS)).to.deep.equal({
      passes: false,
      filter: 'y',
      expression: 'event.check.output',
      value: '"CRITICAL"',
    });
  });

  it('is made before an expression that is not simple is reached', () => {
    expect(simply('event.check.status === 0', 'while (true) {}')).to.deep.include({ passes: false });
  });

  it('is left to the engine for filters with libraries', () => {
    expect(decideSimply([{ ...filter('allow', 'true'), libraries: ['1'] }], EVENT, NOW_MS)).to.equal(undefined);
  });

  it('takes a bounded time for long texts', () => {
    const check = { ...EVENT.check, output: 'a'.repeat(1_000_000), command: 'a'.repeat(500_000) } as NonNullable<
      Event['check']
    >;
    const many = Array.from({ length: 60 }, () => 'event.check.output.indexOf("b") > 0').join(' || ');
    const long = [
      many,
      'event.check.output.indexOf(event.check.command + "b")',
      Array(60).fill('event.check.output').join(' + '),
    ];
    for (const expression of long) {
      const times = Array.from({ length: 3 }, () => {
        const startedAt = performance.now();
        decideSimply([filter('deny', expression)], { ...EVENT, check }, NOW_MS);
        return performance.now() - startedAt;
      });
      expect(Math.min(...times), expression).to.be.below(100);
    }
  });
});
