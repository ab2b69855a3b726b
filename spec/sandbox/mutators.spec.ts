import { expect } from 'chai';
import { systemClock } from '../../src/main/process/system-clock.ts';
import { type Event, parseEvent } from '../../src/resources/event.ts';
import type { MutateResult, MutateTask } from '../../src/sandbox/messages.ts';
import { Sandbox } from '../../src/sandbox/sandbox.ts';
import { proxyEvent } from '../support/example-events.ts';
import { at } from '../support/json-path.ts';
import { RecordedLog } from '../support/recorded-log.ts';

const OWNER = { namespace: 'default', name: 'mail' };
const ID = '6f1ed1f2-6b5c-4f1e-9d7b-0f3a0f6f0001';
const EVENT: Event = {
  ...parseEvent(proxyEvent('web-1', 'disk', { status: 2, output: 'out', handlers: ['a'] })),
  id: ID,
};

describe('a JavaScript mutator', () => {
  let sandbox: Sandbox;

  before(() => {
    sandbox = new Sandbox({ clock: systemClock, log: new RecordedLog() });
  });

  after(() => sandbox.stop());

  const mutate = (body: string, changes: Partial<MutateTask> = {}): Promise<MutateResult> =>
    sandbox.mutate({ event: EVENT, body, variables: {}, timeoutMs: 0, nowMs: 0, ...changes }, OWNER);

  async function textOf(body: string, changes: Partial<MutateTask> = {}): Promise<string> {
    const result = await mutate(body, changes);
    if ('error' in result) throw new Error(result.error);
    return result.data;
  }
  const eventOf = async (body: string, changes: Partial<MutateTask> = {}): Promise<unknown> =>
    JSON.parse(await textOf(body, changes));
  const errorOf = async (body: string, changes: Partial<MutateTask> = {}): Promise<string> => {
    const result = await mutate(body, changes);
    return 'error' in result ? result.error : `data: ${result.data}`;
  };
  const UNCHANGED: unknown = JSON.parse(JSON.stringify(EVENT));

  it('that returns nothing or null passes the event on', async () => {
    expect(await eventOf(';')).to.deep.equal(UNCHANGED);
    expect(await eventOf('return null')).to.deep.equal(UNCHANGED);
    expect(await eventOf('return JSON.stringify(event)')).to.deep.equal(UNCHANGED);
    expect(await eventOf('event.labels.x; event.check.annotations.y; return JSON.stringify(event)')).to.deep.equal(
      UNCHANGED,
    );
  });

  it('passes the event on as it changed it', async () => {
    const body =
      'event.check.status = 7; event.check.labels["a"] = "b"; event.annotations.k = "v"; event.entity.labels = { zone: "z" };';
    const changed = await eventOf(body);
    expect(at(changed, 'check', 'status')).to.equal(7);
    expect(at(changed, 'check', 'metadata', 'labels')).to.deep.equal({ a: 'b' });
    expect(at(changed, 'metadata', 'annotations')).to.deep.equal({ k: 'v' });
    expect(at(changed, 'entity', 'metadata', 'labels')).to.deep.equal({ zone: 'z' });
    expect(at(await eventOf('event.check.handlers = ["q"]'), 'check', 'handlers')).to.deep.equal(['q']);
  });

  it('cannot give the event attributes that events do not have, nor take theirs away', async () => {
    expect(await eventOf('event.extra = 5; event.check.extra = 6')).to.deep.equal(UNCHANGED);
    expect(await eventOf('delete event.check.output; delete event.check')).to.deep.equal(UNCHANGED);
    const withoutHistory =
      'var c = JSON.parse(JSON.stringify(event)); c.extra = 1; delete c.check; return JSON.stringify(c)';
    expect(Object.keys((await eventOf(withoutHistory)) as object))
      .to.include('extra')
      .and.not.include('check');
  });

  it('fails when an attribute gets another type', async () => {
    expect(await errorOf('event.check.status = "x"')).to.contain('check.status');
    expect(await errorOf('event.check.status = -1')).to.contain('check.status');
    expect(await errorOf('event.check.status = 1.5')).to.contain('check.status');
    expect(await errorOf('event.check.handlers.push("b")')).to.contain('TypeError');
  });

  it('passes a returned text on, whatever it contains', async () => {
    expect(await textOf('return "plain " + event.check.name')).to.equal('plain disk');
    expect(await textOf('return ""')).to.equal('');
    expect(await textOf('return "é✓😀"')).to.equal('é✓😀');
  });

  const classes = [
    ['1', ''],
    ['true', ''],
    ['{}', 'Object'],
    ['[1]', 'Array'],
    ['new String("x")', 'String'],
    ['function () {}', 'Function'],
  ] as const;
  for (const [value, name] of classes) {
    it(`fails when it returns ${value}`, async () => {
      expect(await errorOf(`return ${value}`)).to.equal(`bad mutator result: got "${name}", want string or undefined`);
    });
  }

  it('fails when it throws or cannot be parsed', async () => {
    expect(await errorOf('throw "x"')).to.equal('threw x');
    expect(await errorOf('nope.x')).to.equal("ReferenceError: 'nope' is not defined");
    expect(await errorOf('return (')).to.contain('SyntaxError');
    expect(await errorOf('return "x" // done')).to.contain('SyntaxError');
  });

  it('is stopped at its time limit, one second by default', async () => {
    const error = 'mutator timeout reached, execution halted';
    const startedAt = performance.now();
    expect(await errorOf('while (true) {}', { timeoutMs: 100 })).to.equal(error);
    expect(await errorOf('while (true) {}')).to.equal(error);
    expect(performance.now() - startedAt).to.be.above(1_000);
    expect(await errorOf('return new Array(1e9) + ""', { timeoutMs: 100 })).to.equal(error);
  });

  it('has the functions of filters but not the object sensu', async () => {
    const body = 'return typeof sensu + typeof hour + hour(7323) + typeof console + typeof require';
    expect(await textOf(body)).to.equal('undefinedfunction2objectundefined');
    expect(await textOf('return typeof this.event')).to.equal('object');
    expect(await textOf('return String(event.is_incident) + typeof event.IsIncident + event.IsIncident()')).to.equal(
      'undefinedfunctiontrue',
    );
  });

  it('reads the metadata, and the id as bytes', async () => {
    expect(
      await textOf('return event.check.metadata.name + "|" + event.check.name + "|" + typeof event.metadata'),
    ).to.equal('disk|disk|object');
    expect(await textOf('return typeof event.id + "|" + event.id.length + "|" + event.id[0]')).to.equal(
      'object|16|111',
    );
    expect(at(await eventOf('event.check.labels.a = "b"'), 'id')).to.equal(ID);
  });

  it('has its variables as global strings, and its libraries', async () => {
    const variables = { hockey: 'puck', EMPTY: '' };
    expect(await textOf('return hockey + "|" + EMPTY', { variables })).to.equal('puck|');
    const libraries = ['function twice(text) { return text + text; }'];
    expect(await textOf('return twice(hockey)', { variables, libraries })).to.equal('puckpuck');
  });

  it('keeps the exact timestamps of metric points', async () => {
    const exact = 1_700_000_000_000_000_001n;
    const points = [{ name: 'load', value: 1, timestamp: exact, tags: null }];
    const event: Event = { ...EVENT, metrics: { handlers: null, points } };
    expect(await textOf('event.check.status = 1', { event })).to.contain(`"timestamp":${exact}`);
  });

  it('refuses a result of more than 4,194,304 characters', async () => {
    expect(await errorOf('return "x".repeat(4194305)')).to.equal('the result must be at most 4194304 characters');
  });
});
