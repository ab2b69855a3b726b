import { expect } from 'chai';
import { perSuite } from '../../support/fixture.ts';
import { ReportingAgent } from '../../support/reporting-agent.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';

interface Detail {
  value: unknown;
  since_ms: number;
  deadline_at_ms: number | null;
  context: Record<string, unknown>;
  seq: number;
}

describe('an actor, as the API shows it', () => {
  const backend = perSuite(() => RestartableBackend.start());
  const api = perSuite(() => backend.login());
  let agent: ReportingAgent;
  const nowMs = (): number => backend.clock.nowMs();

  before(async () => {
    const check = { metadata: { name: 'disk', namespace: 'default' }, command: 'true', interval: 10, publish: false };
    await api.put('/ns/default/checks/disk', { ...check, subscriptions: ['linux'] });
    agent = await ReportingAgent.connect(backend, 'web-01');
    await agent.keepalive({ interval: 5, timeout: 600 });
    await agent.result('disk', { ttl: 30, interval: 10 });
    await agent.result('load', { interval: 10, status: 2 });
  });

  async function detail(sessionId: string): Promise<Detail> {
    const { status, json } = await api.get(`/api/mon/v1/actors/${encodeURIComponent(sessionId)}`);
    expect(status, sessionId).to.equal(200);
    return json as Detail;
  }

  it('has its nested state, its data and its deadline', async () => {
    const { value, since_ms, deadline_at_ms, context, seq } = await detail('entity:default/web-01');
    expect(value).to.deep.equal({ registered: 'monitored' });
    expect(since_ms).to.equal(nowMs());
    expect(deadline_at_ms).to.equal(nowMs() + 600_000);
    expect(context).to.deep.include({ key: 'default/web-01', warningMs: 600_000, intervalMs: 5_000 });
    expect(seq).to.be.greaterThan(0);
  });

  it('has no deadline when it waits for none', async () => {
    const { value, deadline_at_ms, context } = await detail('check-state:default/web-01/load');
    expect([value, deadline_at_ms, context['status']]).to.deep.equal(['failing', null, 2]);
  });

  it('has a deadline that moves with its last result', async () => {
    const before = await detail('check-ttl:default/web-01/disk');
    expect(before.deadline_at_ms).to.equal(nowMs() + 30_000);
    await backend.clock.advance(10_000);
    expect((await detail('check-ttl:default/web-01/disk')).deadline_at_ms).to.equal(nowMs() + 20_000);
    expect((await detail('check-schedule:default/disk')).deadline_at_ms).to.be.within(nowMs(), nowMs() + 10_000);
  });

  it('has the entries of its ledger, newest first, in pages', async () => {
    const path = `/api/mon/v1/actors/${encodeURIComponent('check-state:default/web-01/load')}/ledger`;
    const result = (status: number) => agent.result('load', { interval: 10, status });
    for (const status of [0, 1, 0]) await result(status);
    const whole = (await api.get(path)).json as { entries: { seq: number; to: string }[] };
    expect(whole.entries.map(({ to }) => to)).to.deep.equal(['passing', 'failing', 'passing', 'failing']);
    const paged: unknown[] = [];
    for (let token = ''; ;) {
      const { json, headers } = await api.get(`${path}?limit=3&continue=${token}`);
      paged.push(...(json as typeof whole).entries);
      const next = headers['sensu-continue'];
      if (typeof next !== 'string') break;
      token = next;
    }
    expect(paged).to.deep.equal(whole.entries);
    expect((await api.get(`${path}?limit=0`)).status).to.equal(400);
    await result(2);
  });

  it('is not found when it does not exist, or its id is none', async () => {
    for (const id of [
      'entity:default/web-02',
      'entity:web-01',
      'queue:default/web-01',
      'check-ttl:default/web-01/load',
    ]) {
      expect((await api.get(`/api/mon/v1/actors/${encodeURIComponent(id)}`)).status, id).to.equal(404);
    }
  });

  it('is counted in its top-level state', async () => {
    const { status, json } = await api.get('/api/mon/v1/actor-counts');
    expect(status).to.equal(200);
    const counts = new Map((json as { machine: string; states: object }[]).map((one) => [one.machine, one.states]));
    expect([...counts.keys()]).to.deep.equal([
      'entity',
      'check-ttl',
      'check-state',
      'connection',
      'check-schedule',
      'silence',
    ]);
    expect(counts.get('check-ttl')).to.deep.equal({ registered: 1 });
    expect(counts.get('check-state')).to.deep.equal({ passing: 2, failing: 1 });
    expect(counts.get('connection')).to.deep.equal({ registered: 1 });
    expect(counts.get('check-schedule')).to.deep.equal({ scheduled: 1 });
    expect(counts.get('silence')).to.deep.equal({});
  });

  it('has its deadline in the summary of its entity too', async () => {
    const { json } = await api.get('/api/mon/v1/namespaces/default/entity-summaries');
    const { deadline_at_ms: deadline } = await detail('entity:default/web-01');
    expect(json).to.have.nested.property('[0].deadline_at_ms', deadline);
  });

  it('is counted in its namespace, when it is an entity that sent keepalives', async () => {
    await api.put('/ns/default/entities/proxy', {
      metadata: { name: 'proxy', namespace: 'default' },
      entity_class: 'proxy',
    });
    const { json } = await api.get('/api/mon/v1/namespace-summaries');
    const counts = (json as { name: string; agents: object }[]).find(({ name }) => name === 'default');
    expect(counts?.agents).to.deep.equal({ registered: 1 });
  });

  it('is counted once by requests at the same time, with the changes before each request', async () => {
    const paths = Array.from({ length: 5 }, () => api.get('/api/mon/v1/actor-counts'));
    const bodies = new Set((await Promise.all(paths)).map(({ json }) => JSON.stringify(json)));
    expect(bodies.size).to.equal(1);
  });

  it('keeps the time at which it entered its state when its ledger has further entries', async () => {
    const [load, entity] = ['check-state:default/web-01/load', 'entity:default/web-01'];
    const since = [(await detail(load)).since_ms, (await detail(entity)).since_ms];
    await backend.clock.advance(5_000);
    await api.post('/ns/default/silenced', { metadata: { name: 'entity:web-01:load', namespace: 'default' } });
    await agent.result('load', { interval: 10, status: 1 });
    await agent.result('load', { interval: 10, status: 2 });
    expect((await api.post('/api/mon/v1/actors/entity/default%2Fweb-01/wake', undefined)).status).to.equal(204);
    expect([(await detail(load)).since_ms, (await detail(entity)).since_ms]).to.deep.equal(since);
    const { json } = await api.get('/api/mon/v1/actors?machine=check-state&check=load');
    expect((json as { since: number }[]).map((listed) => listed.since)).to.deep.equal([
      Math.floor((since[0] ?? 0) / 1_000),
    ]);
    await api.delete('/ns/default/silenced/entity:web-01:load');
  });

  it('is named when it is not found or cannot be woken', async () => {
    const path = '/api/mon/v1/actors';
    const message = async (answer: Promise<{ json: unknown }>) => ((await answer).json as { message: string }).message;
    const id = 'check-state:default/web-01/nope';
    expect(await message(api.get(`${path}/${encodeURIComponent(id)}`))).to.equal(`actor ${id} not found`);
    expect(await message(api.post(`${path}/entity/default%2Fnope/wake`, undefined))).to.equal(
      'actor entity:default/nope not found',
    );
    expect(await message(api.post(`${path}/silence/x/wake`, undefined))).to.match(
      /^an actor of the kind silence cannot be woken, only one of entity, /,
    );
    expect(await message(api.post(`${path}/queue/x/wake`, undefined))).to.match(/^there is no actor kind queue, only /);
  });
});
