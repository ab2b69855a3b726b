import { expect } from 'chai';
import type { ApiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { keepalive, proxyEvent } from '../support/example-events.ts';
import { perSuite } from '../support/fixture.ts';
import { InProcessBackend } from '../support/in-process-backend.ts';
import { at } from '../support/json-path.ts';
import type { LogLine } from '../support/recorded-log.ts';

const NAMESPACE = '/ns/default';
const PIPELINE = { name: 'alerts', type: 'Pipeline', api_version: 'core/v2' };
const NOT_RUN = { handler: 'core/v2.Pipeline.alerts', outcome: 'skipped', reason: 'pipelines are not run yet' };

describe('a handler that an event does not reach', () => {
  const backend = perSuite(() => InProcessBackend.start());
  let api: ApiClient;

  before(async () => {
    api = await backend.login();
    await put('filters', 'of-mine', { action: 'allow', expressions: ['event.check.status > 1'] });
    await put('mutators', 'shape', { command: 'cat' });
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

  it('because its filter cannot run yet is recorded with that reason, and logged once a minute', async () => {
    await handler('filtered', { filters: ['of-mine'] });
    const reason = 'filter cannot run yet, only built-in filters can: of-mine';
    const outcome = { handler: 'filtered', outcome: 'skipped', reason };
    const result = { status: 2, handlers: ['filtered'] };
    expect(await notificationsOf('filtered', result, 1)).to.deep.equal([outcome]);
    expect(await notificationsOf('filtered', result, 2)).to.deep.equal([outcome, outcome]);
    expect(linesAbout('filtered').map(({ level, msg, fields }) => [level, msg, fields['reason']])).to.deep.equal([
      ['warn', 'event was not handled', reason],
    ]);
  });

  it('because a built-in filter denies it is recorded and not logged, whatever its other filters', async () => {
    await handler('quiet', { filters: ['of-mine', 'is_incident'] });
    const outcome = { handler: 'quiet', outcome: 'denied', reason: 'not an incident' };
    expect(await notificationsOf('quiet', { status: 0, handlers: ['quiet'] }, 1)).to.deep.equal([outcome]);
    expect(linesAbout('quiet')).to.deep.equal([]);
  });

  it('because its mutator cannot run yet is recorded as failed with that reason, and logged', async () => {
    await handler('mutated', { mutator: 'shape' });
    const reason = 'mutator "shape" cannot run yet, only the built-in mutators json and only_check_output can';
    expect(await notificationsOf('mutated', { status: 1, handlers: ['mutated'] }, 1)).to.deep.equal([
      { handler: 'mutated', outcome: 'failed', reason },
    ]);
    const line = backend.log.errors.find(({ fields }) => fields['handler'] === 'mutated');
    expect(line).to.deep.include({ msg: 'event was not handled' }).and.to.have.nested.property('fields.reason', reason);
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

  it('because it belongs to a pipeline is recorded for each event', async () => {
    const pipelines = { pipelines: [PIPELINE, PIPELINE] };
    const results = [
      [0, 1],
      [0, 2],
      [2, 3],
      [0, 4],
    ] as const;
    for (const [status, count] of results) {
      const recorded = await notificationsOf('piped', { status }, count, pipelines);
      expect(recorded).to.deep.equal(Array.from({ length: count }, () => NOT_RUN));
    }
    expect(linesAbout(NOT_RUN.handler).map(({ level, fields }) => [level, fields['reason']])).to.deep.equal([
      ['warn', NOT_RUN.reason],
    ]);
  });

  it('because the check names pipelines is shown by the schedule of the check, and logged when the check is written', async () => {
    const check = { command: 'true', interval: 60, subscriptions: ['none'], pipelines: [PIPELINE] };
    await put('checks', 'piped', check);
    const { json } = await api.get('/api/mon/v1/namespaces/default/checks/piped/schedule');
    expect(at(json, 'ignored')).to.deep.equal(['pipelines']);
    const line = backend.log.lines.find(({ msg }) => msg === 'fields of the check have no effect');
    expect(line?.fields).to.deep.include({ check: 'piped', fields: ['pipelines'] });
  });
});
