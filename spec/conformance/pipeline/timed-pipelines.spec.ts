import { expect } from 'chai';
import { perSuite } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';
import { reference } from '../../support/pipeline-user.ts';
import { ReportingAgent } from '../../support/reporting-agent.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';

const PIPELINES = [reference('Pipeline', 'alerts')];

describe('a pipeline of events that the backend makes itself', () => {
  const backend = perSuite(() => RestartableBackend.start());

  before(async () => {
    const name = 'alerts';
    const api = await backend.login();
    const workflows = [
      {
        name: 'failing',
        filters: [reference('EventFilter', 'is_incident')],
        handler: reference('Handler', 'nobody'),
      },
    ];
    await api.put(`/ns/default/pipelines/${name}`, { metadata: { name, namespace: 'default' }, workflows });
  });

  /** The last outcome of the pipeline, and why. */
  async function outcomeOf(entity: string, check: string): Promise<unknown[]> {
    const api = await backend.login();
    const { json } = await api.get(`/api/mon/v1/namespaces/default/events/${entity}/${check}/notifications`);
    const last = (json as unknown[]).findLast((one) => at(one, 'pipeline') !== null);
    return ['pipeline', 'workflow', 'outcome', 'reason'].map((name) => at(last, name));
  }

  it('has an outcome with the event of an expired check TTL', async () => {
    const agent = await ReportingAgent.connect(backend, 'ttl');
    await agent.keepalive({ timeout: 3_600 });
    await agent.result('disk', { status: 0, ttl: 5, interval: 1 }, { pipelines: PIPELINES });
    expect(await outcomeOf('ttl', 'disk')).to.deep.equal(['alerts', 'failing', 'denied', 'not an incident']);
    await backend.clock.advance(5_000);
    expect(await outcomeOf('ttl', 'disk')).to.deep.equal(['alerts', 'failing', 'skipped', 'handler does not exist']);
  });

  it('has an outcome with the keepalives of an agent, and with those that are missing', async () => {
    const agent = await ReportingAgent.connect(backend, 'silent');
    await agent.keepalive({ interval: 2, timeout: 5, pipelines: PIPELINES });
    expect(await outcomeOf('silent', 'keepalive')).to.deep.equal(['alerts', 'failing', 'denied', 'not an incident']);
    await agent.vanish();
    await backend.clock.advance(5_000);
    expect(await outcomeOf('silent', 'keepalive')).to.deep.equal([
      'alerts',
      'failing',
      'skipped',
      'handler does not exist',
    ]);
  });

  it('keeps its outcomes with both after a restart', async () => {
    const silent = await ReportingAgent.connect(backend, 'silent-again');
    await silent.keepalive({ interval: 2, timeout: 5, pipelines: PIPELINES });
    const agent = await ReportingAgent.connect(backend, 'ttl-again');
    await agent.keepalive({ timeout: 3_600 });
    await agent.result('disk', { status: 0, ttl: 60, interval: 1 }, { pipelines: PIPELINES });
    await backend.restart();
    await backend.clock.advance(120_000);
    for (const [entity = '', check = ''] of [
      ['silent-again', 'keepalive'],
      ['ttl-again', 'disk'],
    ]) {
      expect(await outcomeOf(entity, check), entity).to.deep.equal([
        'alerts',
        'failing',
        'skipped',
        'handler does not exist',
      ]);
    }
  });
});
