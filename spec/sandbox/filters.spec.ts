import { expect } from 'chai';
import { systemClock } from '../../src/main/process/system-clock.ts';
import { type Event, parseEvent } from '../../src/resources/event.ts';
import type { FilterResult, StoredFilter } from '../../src/sandbox/messages.ts';
import { Sandbox } from '../../src/sandbox/sandbox.ts';
import { proxyEvent } from '../support/example-events.ts';
import { RecordedLog } from '../support/recorded-log.ts';

const OWNER = { namespace: 'default', name: 'mail' };
const EVENT: Event = parseEvent(proxyEvent('web-1', 'disk', { status: 2, output: 'CRITICAL', interval: 60 }));

const allow = (name: string, ...expressions: string[]): StoredFilter => ({
  name,
  action: 'allow',
  expressions,
  libraries: [],
});
const deny = (name: string, ...expressions: string[]): StoredFilter => ({
  ...allow(name, ...expressions),
  action: 'deny',
});

describe('filters in the sandbox', () => {
  let sandbox: Sandbox;
  let log: RecordedLog;

  before(() => {
    log = new RecordedLog();
    sandbox = new Sandbox({ clock: systemClock, log });
  });

  after(() => sandbox.stop());

  const decide = (...filters: StoredFilter[]): Promise<FilterResult> =>
    sandbox.filter({ event: EVENT, filters, nowMs: 1_700_000_010_000 }, OWNER);
  const passes = async (...filters: StoredFilter[]): Promise<boolean> => (await decide(...filters)).passes;

  it('allow an event for which all expressions hold, and name the first one that does not', async () => {
    expect(await decide(allow('x', 'true', '1 == 1'))).to.deep.equal({ passes: true, notes: [] });
    expect(await decide(allow('x', 'true', 'event.check.status === 0', 'false'))).to.deep.equal({
      passes: false,
      filter: 'x',
      expression: 'event.check.status === 0',
      value: 'false',
    });
  });

  it('deny an event for which an expression holds', async () => {
    expect(await passes(deny('x', '1 !== 1', 'false'))).to.equal(true);
    expect(await decide(deny('x', '1 !== 1', 'event.check.output'))).to.deep.equal({
      passes: false,
      filter: 'x',
      expression: 'event.check.output',
      value: '"CRITICAL"',
    });
  });

  it('are evaluated in order until one denies', async () => {
    const result = await decide(allow('first', 'true'), deny('second', '[1]'), allow('third', 'while (true) {}'));
    expect(result).to.deep.equal({ passes: false, filter: 'second', expression: '[1]', value: 'an array' });
  });

  it('leave out an expression that throws, with a note', async () => {
    const why = "ReferenceError: 'nope' is not defined";
    expect(await decide(allow('x', 'nope.x', 'true'))).to.deep.equal({
      passes: true,
      notes: [`x: nope.x threw ${why}`],
    });
    expect(await passes(allow('x', 'nope.x', 'false'))).to.equal(false);
    expect(await passes(deny('x', 'nope.x'))).to.equal(true);
    expect(await passes(deny('x', 'nope.x', 'true'))).to.equal(false);
  });

  it('show changes of the event to later expressions of the same filter only', async () => {
    expect(await passes(allow('x', 'event.check.status = 9; true', 'event.check.status === 9'))).to.equal(true);
    const later = allow('y', 'event.check.status === 2');
    expect(await passes(allow('x', 'event.check.status = 9; true'), later)).to.equal(true);
    expect(await passes(allow('x', 'event = 5; event === 5', 'event.check.status === 2'))).to.equal(true);
    const realLists = 'event.check.handlers.push("z"); true';
    expect(await passes(allow('x', realLists, 'event.check.handlers instanceof Array'))).to.equal(true);
  });

  it('keep the event of earlier expressions when it cannot be written as JSON', async () => {
    expect(await passes(allow('x', 'event.check.self = event; true', 'event.check.status === 2'))).to.equal(true);
  });

  it('share no globals between expressions and events', async () => {
    expect(await passes(allow('x', 'zz = 1; true', 'typeof zz === "undefined"'))).to.equal(true);
    expect(await passes(allow('x', 'Object.prototype.zz = 1; true', '({}).zz === undefined'))).to.equal(true);
    expect(await passes(allow('x', 'hour = 1; true'), allow('y', 'typeof hour === "function"'))).to.equal(true);
  });

  it('deny an event when an expression is stopped at a limit', async () => {
    const failed = async (expression: string) => {
      const result = await decide(allow('first', 'true'), allow('x', expression));
      return 'failed' in result ? [result.filter, result.failed] : result;
    };
    expect(await failed('while (true) {}')).to.deep.equal(['x', 'took too long']);
    expect(await failed('(function f() { return f() + 1; })()')).to.deep.equal(['x', 'took too much stack']);
    expect(await failed('new Array(1e9) + ""')).to.deep.equal(['x', 'took too long and did not stop']);
  });

  it('have the libraries of their assets', async () => {
    const withLibrary = (...expressions: string[]): StoredFilter => ({
      ...allow('x', ...expressions),
      libraries: [
        'function isWeb(event) { seen = event.entity.name; return seen.indexOf("web") === 0; }',
        'var one = 1;',
      ],
    });
    expect(await passes(withLibrary('isWeb(event) && one === 1', 'isWeb(event)'))).to.equal(true);
    expect(await passes(withLibrary('typeof seen === "undefined"'))).to.equal(true);
    const broken = { ...allow('x', 'false', 'true'), libraries: ['throw new Error("no")'] };
    expect(await decide(broken)).to.deep.equal({
      passes: true,
      notes: ['x: false threw Error: no', 'x: true threw Error: no'],
    });
  });

  it('have patterns in the dialect of the reference', async () => {
    const holds = [
      '/(?i)WEB/.test(event.entity.name)',
      '/(?s)a.b/.test("a\\nb")',
      '/(?im)^B$/.test("a\\nb")',
      '/^[[:alpha:]]+$/.test("abc") && !/^[[:alpha:]]+$/.test("a1")',
      String.raw`/\Aweb\z/m.test("web") && !/\Aweb/.test("Aweb") && !/\Aweb\z/m.test("web\n")`,
      String.raw`/^\Qa.b[\E+$/.test("a.b[[") && !/\Qa.b/.test("axb")`,
      '/^[^[:space:]]+$/.test("abc") && /[[:^digit:]]/.test("a")',
      '/(?P<first>a)/.exec("a").groups.first === "a"',
      '"a/b".split("/").length === 2 && /[[:digit:]]/.test("1") && 4 / 2 / 1 === 2',
    ];
    for (const expression of holds) expect(await passes(allow('x', expression)), expression).to.equal(true);
  });

  it('log what they write to the console, at most 1,024 characters', async () => {
    log.lines.length = 0;
    await decide(
      allow('x', 'console.log("status", event.check.status, { a: 1 }); true', 'console.log("y".repeat(5000)); true'),
    );
    const [line] = log.lines;
    expect(line?.level).to.equal('debug');
    const { text, ...owner } = { text: '', ...line?.fields };
    expect(owner).to.deep.include(OWNER);
    expect(text).to.have.lengthOf(1_024);
    expect(text.startsWith('status 2 {"a":1}\nyyy')).to.equal(true);
  });

  it('have the object sensu without enumerable members, also as mon, and the time', async () => {
    expect(await passes(allow('x', 'sensu === mon && Object.keys(sensu).length === 0'))).to.equal(true);
    expect(await passes(allow('x', 'seconds_since(1700000000) === 10'))).to.equal(true);
  });
});
