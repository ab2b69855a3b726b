import { expect } from 'chai';
import type { ApiClient } from '../../support/api-client.ts';
import { eventually } from '../../support/eventually.ts';
import { keepalive, proxyEvent } from '../../support/example-events.ts';
import { perSuite } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';
import type { LogLine } from '../../support/recorded-log.ts';

const NAMESPACE = '/ns/default';
const PIPELINE = { name: 'alerts', type: 'Pipeline', api_version: 'core/v2' };
const MISSING = { name: 'nope', type: 'Pipeline', api_version: 'core/v2' };

describe('a handler that an event does not reach', () => {
  const backend = perSuite(() => InProcessBackend.start());
  let api: ApiClient;

  before(async () => {
    api = await backend.login();
    await put('filters', 'of-mine', { action: 'allow', expressions: ['event.check.status > 1'] });
    await put('mutators', 'broken', { command: 'echo no >&2; exit 3' });
    await put('pipelines', 'alerts', { workflows: [] });
  });

  async function put(kind: string, name: string, changes: object): Promise<void> {
    const { status, text } = await api.put(`${NAMESPACE}/${kind}/${name}`, {
      metadata: { name, namespace: 'default' },
      ...changes,
    });
    expect(status, text).to.equal(201);
  }

  const handler = (name: string, changes: object = {}): Promise<void> =>
    put('handlers', name, { type: 'pipe', command: 'cat > /dev/null', ...changes });

  /** Puts an event of the check, and returns its outcomes when there are so many. */
  async function notificationsOf(
    check: string,
    result: object,
    count: number,
    changes: object = {},
  ): Promise<object[]> {
    const event = { ...proxyEvent('switch-1', check, { ...result }), ...changes };
    const { status, text } = await api.put(`${NAMESPACE}/events/switch-1/${check}`, event);
    expect(status, text).to.equal(200);
    const path = `/api/mon/v1/namespaces/default/events/switch-1/${check}/notifications`;
    const { json } = await eventually(
      () => api.get(path),
      (answer) => outcomesIn(answer.json).length >= count,
      { what: `${count} outcomes` },
    );
    return outcomesIn(json);
  }

  /** The outcomes, each as often as its notification counts it. */
  function outcomesIn(json: unknown): object[] {
    return (json as object[]).flatMap((one) =>
      Array.from({ length: Number(at(one, 'count')) }, () => ({
        handler: at(one, 'handler'),
        outcome: at(one, 'outcome'),
        reason: at(one, 'reason'),
      })),
    );
  }

  const linesAbout = (name: string): LogLine[] =>
    backend.log.lines.filter(({ fields }) => fields['handler'] === name && fields['namespace'] === 'default');

  it('because its filter denies it is recorded with the expression and its value, and not logged', async () => {
    await handler('filtered', { filters: ['of-mine'] });
    const outcome = { handler: 'filtered', outcome: 'denied', reason: 'of-mine: event.check.status > 1 was false' };
    const result = { status: 1, handlers: ['filtered'] };
    expect(await notificationsOf('filtered', result, 1)).to.deep.equal([outcome]);
    expect(await notificationsOf('filtered', result, 2)).to.deep.equal([outcome, outcome]);
    expect(linesAbout('filtered').filter(({ level }) => level === 'warn')).to.deep.equal([]);
  });

  it('because its filter does not exist is recorded with that reason, and logged once a minute', async () => {
    await handler('unfiltered', { filters: ['nope'] });
    const outcome = { handler: 'unfiltered', outcome: 'skipped', reason: 'filter "nope" does not exist' };
    const result = { status: 2, handlers: ['unfiltered'] };
    expect(await notificationsOf('unfiltered', result, 1)).to.deep.equal([outcome]);
    expect(await notificationsOf('unfiltered', result, 2)).to.deep.equal([outcome, outcome]);
    expect(linesAbout('unfiltered').map(({ level, msg, fields }) => [level, msg, fields['reason']])).to.deep.equal([
      ['warn', 'event was not handled', outcome.reason],
    ]);
  });

  it('because a built-in filter denies it is recorded and not logged, whatever its other filters', async () => {
    await handler('quiet', { filters: ['of-mine', 'is_incident'] });
    const outcome = { handler: 'quiet', outcome: 'denied', reason: 'not an incident' };
    expect(await notificationsOf('quiet', { status: 0, handlers: ['quiet'] }, 1)).to.deep.equal([outcome]);
    expect(linesAbout('quiet')).to.deep.equal([]);
  });

  it('because its mutator fails is recorded with its status and its errors, and logged', async () => {
    await handler('mutated', { mutator: 'broken' });
    const reason = 'mutator "broken": pipe mutator execution returned non-zero exit status (exit status 3): no\n';
    expect(await notificationsOf('mutated', { status: 1, handlers: ['mutated'] }, 1)).to.deep.equal([
      { handler: 'mutated', outcome: 'failed', reason },
    ]);
    const [line] = linesAbout('mutated');
    expect(line).to.deep.include({ level: 'warn', msg: 'event was not handled' });
    expect(line).to.have.nested.property('fields.reason', reason);
  });

  it('because its mutator does not exist is recorded with that reason', async () => {
    await handler('unmutated', { mutator: 'nope' });
    const outcome = { handler: 'unmutated', outcome: 'skipped', reason: 'mutator "nope" does not exist' };
    expect(await notificationsOf('unmutated', { status: 1, handlers: ['unmutated'] }, 1)).to.deep.equal([outcome]);
  });

  it('because a secret of it does not exist is recorded with that reason', async () => {
    await handler('secretive', { secrets: [{ name: 'TOKEN', secret: 'nope' }] });
    const reason = 'handler "secretive": secret "nope": invalid secret info: nope';
    const outcome = { handler: 'secretive', outcome: 'skipped', reason };
    expect(await notificationsOf('secretive', { status: 1, handlers: ['secretive'] }, 1)).to.deep.equal([outcome]);
  });

  it('because the check sets handle to false is recorded with that reason', async () => {
    await handler('ready');
    const reason = 'the check is not handled: its attribute handle is false';
    const outcome = { handler: 'ready', outcome: 'skipped', reason };
    const result = { status: 1, handlers: ['ready'], handle: false };
    expect(await notificationsOf('unhandled', result, 1)).to.deep.equal([outcome]);
    const check = { command: 'true', interval: 60, subscriptions: ['none'], handle: false };
    await put('checks', 'unhandled-too', check);
    const { json } = await api.get(`${NAMESPACE}/checks/unhandled-too`);
    expect(at(json, 'handle')).to.equal(false);
    const stored = { status: 1, handlers: ['ready'] };
    expect(await notificationsOf('unhandled-too', stored, 1)).to.deep.equal([outcome]);
  });

  it('because it does not exist is recorded for each event, and logged once a minute for incidents', async () => {
    const result = { status: 1, handlers: ['absent'] };
    const outcome = { handler: 'absent', outcome: 'skipped', reason: 'handler does not exist' };
    expect(await notificationsOf('absent', { status: 0, handlers: ['absent'] }, 1)).to.deep.equal([outcome]);
    expect(linesAbout('absent')).to.deep.equal([]);
    expect(await notificationsOf('absent', result, 2)).to.deep.equal([outcome, outcome]);
    expect(await notificationsOf('absent', result, 3)).to.deep.equal([outcome, outcome, outcome]);
    expect(linesAbout('absent').map(({ level, msg, fields }) => [level, msg, fields['events']])).to.deep.equal([
      ['warn', 'handler does not exist, will be ignored', 1],
    ]);
    await backend.clock.advance(60_000);
    await notificationsOf('absent', result, 4);
    expect(linesAbout('absent').at(-1)?.fields).to.deep.include({ events: 2 });
  });

  it('because it is the optional handler of registrations and does not exist is recorded and not logged', async () => {
    const agent = await backend.connected({ name: 'web-1' });
    agent.send('keepalive', keepalive('web-1'));
    await agent.ping('decided');
    await backend.clock.settle();
    expect(at(await api.entity('web-1'), 'entity_class')).to.equal('agent');
    const { json } = await api.get('/api/mon/v1/namespaces/default/events/web-1/registration/notifications');
    const outcome = { handler: 'registration', outcome: 'skipped', reason: 'handler does not exist' };
    expect(outcomesIn(json)).to.deep.equal([outcome]);
    expect(linesAbout('registration')).to.deep.equal([]);
  });

  it('because its pipeline does not exist or has no workflows is recorded for each, and logged', async () => {
    const outcomes = [
      { handler: '', outcome: 'skipped', reason: 'pipeline has no workflows' },
      { handler: '', outcome: 'skipped', reason: 'pipeline "nope" does not exist' },
    ];
    const recorded = await notificationsOf('piped', { status: 1 }, 2, { pipelines: [PIPELINE, MISSING] });
    expect(recorded).to.have.deep.members(outcomes);
    const logged = linesAbout('').map(({ level, fields }) => [level, fields['pipeline'], fields['reason']]);
    expect(logged).to.deep.equal([
      ['warn', 'alerts', outcomes[0]?.reason],
      ['warn', 'nope', outcomes[1]?.reason],
    ]);
  });
});
