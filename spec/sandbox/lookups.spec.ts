import { expect } from 'chai';
import { systemClock } from '../../src/main/process/system-clock.ts';
import { type Event, parseEvent } from '../../src/resources/event.ts';
import type { EventReader } from '../../src/sandbox/lookups.ts';
import type { FilterResult, MutateResult, StoredFilter } from '../../src/sandbox/messages.ts';
import { Sandbox } from '../../src/sandbox/sandbox.ts';
import { proxyEvent } from '../support/example-events.ts';
import { RecordedLog } from '../support/recorded-log.ts';

const OWNER = { namespace: 'default', name: 'disk' };
const EVENT: Event = parseEvent(proxyEvent('web-1', 'disk', { status: 2 }));
const MANY = 25;

/** Events as JSON, by entity and check, which counts how often each is read. */
class Events implements EventReader {
  readonly asked: string[] = [];
  listed = 0;
  list = (): Promise<{ json: string } | { error: string }> => {
    this.listed += 1;
    return Promise.resolve({ json: '[{"check":{"status":0}},{"check":{"status":2}}]' });
  };

  get(entity: string, check: string): string | undefined {
    this.asked.push(`${entity}/${check}`);
    if (entity === 'large') return `"${'x'.repeat(600 * 1024)}"`;
    return entity === 'none' ? undefined : JSON.stringify({ check: { name: check, status: entity.length } });
  }
}

const allow = (name: string, ...expressions: string[]): StoredFilter => ({
  name,
  action: 'allow',
  expressions,
  libraries: [],
});

describe('the events that programs look up', () => {
  let sandbox: Sandbox;
  let log: RecordedLog;
  let events: Events;

  before(() => {
    log = new RecordedLog();
    sandbox = new Sandbox({ clock: systemClock, log });
  });

  beforeEach(() => {
    events = new Events();
  });

  after(() => sandbox.stop());

  const decide = (filters: StoredFilter[], reader: EventReader | undefined = events): Promise<FilterResult> =>
    sandbox.filter({ event: EVENT, filters, nowMs: 0, events: reader }, OWNER);
  const passes = async (...expressions: string[]): Promise<boolean | string> => {
    const result = await decide([allow('x', ...expressions)]);
    if ('failed' in result) return result.failed;
    return result.passes ? (result.notes[0] ?? true) : result.value;
  };
  const mutate = (body: string, timeoutMs = 0): Promise<MutateResult> =>
    sandbox.mutate({ event: EVENT, body, variables: {}, timeoutMs, nowMs: 0, events }, OWNER);

  it('are returned by FetchEvent, with names that the program computes, and undefined when there is none', async () => {
    expect(await passes('sensu.FetchEvent(event.entity.name, "d" + "b").check.status === 5')).to.equal(true);
    expect(await passes('mon.FetchEvent("none", "db") === undefined')).to.equal(true);
    expect(events.asked).to.deep.equal(['web-1/db', 'none/db']);
    expect(await passes('sensu.FetchEvent("none", "db").check.status')).to.match(/threw TypeError/);
  });

  it('are returned by ListEvents', async () => {
    const failing = 'sensu.ListEvents().filter(function (one) { return one.check.status > 0; }).length';
    expect(await passes(`${failing} === 1 && ${failing} === 1`)).to.equal(true);
    expect(events.listed).to.equal(1);
  });

  it('are read once for all filters of a handler, whose results do not depend on the rounds', async () => {
    const written = 'console.log("once"); sensu.FetchEvent("a", "b").check.status === 1';
    const result = await decide([
      allow('first', 'nope.x', 'true'),
      allow('second', written, written),
      allow('third', written),
    ]);
    expect(result).to.deep.equal({
      passes: true,
      notes: ["first: nope.x threw ReferenceError: 'nope' is not defined"],
    });
    expect(events.asked).to.deep.equal(['a/b']);
    const console = log.lines.filter(({ msg }) => msg === 'a program wrote to its console').at(-1);
    expect(console?.fields).to.include({ text: 'once\nonce\nonce\n' });
  });

  it('decide also when the program catches the errors of its calls', async () => {
    const caught =
      '(function () { try { return sensu.FetchEvent("a", "b").check.status; } catch (e) { return 0; } })()';
    expect(await passes(`${caught} === 1`)).to.equal(true);
  });

  it('are copies: a change is visible to nobody else', async () => {
    const changed = 'sensu.FetchEvent("a", "b").check.status = 9; true';
    expect(await passes(changed, 'sensu.FetchEvent("a", "b").check.status === 1')).to.equal(true);
  });

  it('are available to mutators as mon', async () => {
    const body = 'return mon.FetchEvent("db", event.check.name).check.name + mon.ListEvents().length + typeof sensu;';
    expect(await mutate(body)).to.deep.equal({ data: 'disk2undefined' });
    expect(await mutate('event.check.labels.db = "" + mon.FetchEvent("db", "x").check.status'))
      .to.have.property('data')
      .match(/"db":"2"/);
  });

  it(`are at most 20 different ones for the filters of a handler: a further call throws`, async () => {
    const fetched = `for (var i = 0, n = 0; i < ${MANY}; i += 1) { try { sensu.FetchEvent("a", "c" + i); n += 1; } catch (e) { last = e.message; } } n + last`;
    expect(await passes(`(${JSON.stringify(fetched)}, false)`)).to.equal('false');
    const result = await decide([{ ...allow('x', fetched), action: 'deny' }]);
    expect(result).to.include({ value: '"20FetchEvent: at most 20 events can be fetched"' });
    expect(events.asked).to.have.lengthOf(20);
  });

  it('have at most 1,048,576 characters together, and 100 calls of one expression', async () => {
    expect(await mutate('return mon.FetchEvent("large", "a").length + mon.FetchEvent("large", "b")')).to.deep.equal({
      error: 'Error: FetchEvent: at most 1048576 characters of events can be looked up',
    });
    expect(await passes('for (var i = 0; i < 101; i += 1) sensu.FetchEvent("a", "b"); true')).to.match(
      /at most 100 calls$/,
    );
  });

  it('cannot be looked up without a reader, nor with names of another type', async () => {
    const none = await sandbox.filter({ event: EVENT, filters: [allow('x', 'mon.ListEvents()')], nowMs: 0 }, OWNER);
    expect(none)
      .to.have.property('notes')
      .deep.equal(['x: mon.ListEvents() threw Error: ListEvents: events cannot be read here']);
    expect(await passes('sensu.FetchEvent({ toString: function () { return "a"; } }, 5).check.name === "5"')).to.equal(
      true,
    );
    const forged =
      'Array.prototype.toJSON = Object.prototype.toJSON = String.prototype.toJSON = function () { return 5; };';
    expect(await passes(`${forged} sensu.FetchEvent("a", "b").check.status === 1`)).to.equal(true);
    expect(await passes(`sensu.FetchEvent(new Array(700).join("a"), "b") === undefined`)).to.equal(true);
  });

  it('give no more time: all rounds of a filter share its limit, and those of a mutator its timeout', async function () {
    this.timeout(30_000);
    // Each round takes a part of the limit, and asks for one more event.
    const slow =
      'for (var i = 0; i < 20; i += 1) { sensu.FetchEvent("a", "c" + i); for (var j = 0, n = 0; j < 100000; j += 1) n += j; } true';
    expect(await passes(slow)).to.equal('took too long');
    expect(events.asked.length).to.be.lessThan(20);
    expect(await mutate(slow.replaceAll('sensu', 'mon'), 50)).to.deep.equal({
      error: 'mutator timeout reached, execution halted',
    });
    expect(await passes('try { sensu.FetchEvent("a", "b") } catch (e) { while (true) {} }')).to.equal('took too long');
  });
});
