import { hostname } from 'node:os';
import { expect } from 'chai';
import { perSuite } from '../../support/fixture.ts';
import { ReportingAgent } from '../../support/reporting-agent.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';

interface Listed {
  session_id: string;
  value: string;
  since: number | null;
}

describe('the actor list', () => {
  const backend = perSuite(() =>
    RestartableBackend.start({ configure: (config) => ({ ...config, maxAwakeActors: 1 }) }),
  );
  const api = perSuite(() => backend.login());
  let sessions: string[];

  async function silence(name: string, fields: object): Promise<void> {
    const silenced = { metadata: { name, namespace: 'default' }, ...fields };
    const { status } = await api.put(`/ns/default/silenced/${encodeURIComponent(name)}`, silenced);
    expect(status).to.equal(201);
  }

  before(async () => {
    const check = { metadata: { name: 'disk', namespace: 'default' }, command: 'true', interval: 10, publish: false };
    await api.put('/ns/default/checks/disk', { ...check, subscriptions: ['linux'] });
    for (const name of ['web-01', 'web-010']) {
      const agent = await ReportingAgent.connect(backend, name);
      await agent.keepalive({ interval: 5, timeout: 600 });
      await agent.result('disk', { ttl: 30, interval: 10 });
      await agent.result('load', { interval: 10 });
      await agent.result('swap', { ttl: 300, interval: 10 });
    }
    await silence('entity:web-01:disk', { subscription: 'entity:web-01', check: 'disk' });
    await silence('linux:*', { subscription: 'linux', begin: backend.nowS + 600 });
    await backend.clock.advance(30_000);
    sessions = ((await api.get('/api/mon/v1/sessions')).json as { id: string }[]).map(({ id }) => id);
  });

  async function list(query: string): Promise<Listed[]> {
    const { status, json } = await api.get(`/api/mon/v1/actors?${query}`);
    expect(status).to.equal(200);
    return json as Listed[];
  }
  const idsOf = async (query: string) => (await list(query)).map(({ session_id }) => session_id);

  const CHECK_TTLS = ['web-01/disk', 'web-01/swap', 'web-010/disk', 'web-010/swap'].map(
    (key) => `check-ttl:default/${key}`,
  );
  const CHECK_STATES = ['web-01', 'web-010'].flatMap((name) =>
    ['disk', 'keepalive', 'load', 'swap'].map((check) => `check-state:default/${name}/${check}`),
  );
  const SILENCES = ['silence:default/entity:web-01:disk', 'silence:default/linux:*'];
  const ENTITIES = ['entity:default/web-01', 'entity:default/web-010', `entity:mon-system/${hostname()}`];
  const connections = (): string[] => sessions.map((id) => `connection:${id}`).toSorted();

  it('contains all actors in the order of session ids, each with its state and since when', async () => {
    const all = await list('');
    expect(all.map(({ session_id }) => session_id)).to.deep.equal([
      'check-schedule:default/disk',
      ...CHECK_STATES,
      ...CHECK_TTLS,
      ...connections(),
      ...ENTITIES,
      ...SILENCES,
    ]);
    const warning = { machine: 'check-ttl', key: 'default/web-01/disk', value: 'warning', since: backend.nowS };
    const [ttl, next] = all.slice(1 + CHECK_STATES.length);
    expect(ttl).to.deep.equal({ session_id: CHECK_TTLS[0], ...warning });
    expect(next).to.deep.include({ value: 'registered', since: backend.nowS - 30 });
    expect(all[0]).to.deep.include({ value: 'scheduled', since: backend.nowS - 30 });
    expect(all.at(-2)).to.deep.include({ value: 'active', since: backend.nowS - 30 });
    expect(all.at(-1)).to.deep.include({ value: 'pending', since: backend.nowS - 30 });
    const states = new Map(all.map(({ session_id, value }) => [session_id, value]));
    expect(states.get('check-state:default/web-01/disk')).to.equal('failing');
    expect(states.get('check-state:default/web-01/load')).to.equal('passing');
  });

  it('can be filtered by machine, entity and check', async () => {
    expect(await idsOf('machine=entity')).to.deep.equal(ENTITIES);
    expect(await idsOf('machine=connection')).to.deep.equal(connections());
    const ofEntity = await idsOf('entity=default/web-01');
    expect(ofEntity.filter((id) => !id.startsWith('connection:'))).to.deep.equal([
      ...CHECK_STATES.filter((id) => id.includes('/web-01/')),
      ...CHECK_TTLS.slice(0, 2),
      'entity:default/web-01',
      SILENCES[0],
    ]);
    expect(ofEntity).to.have.lengthOf(9);
    expect(await idsOf('check=disk')).to.deep.equal([
      'check-schedule:default/disk',
      'check-state:default/web-01/disk',
      'check-state:default/web-010/disk',
      CHECK_TTLS[0],
      CHECK_TTLS[2],
      SILENCES[0],
    ]);
    expect(await idsOf('entity=default/web-010&check=swap&machine=check-ttl')).to.deep.equal([CHECK_TTLS[3]]);
    expect(await idsOf('entity=default/web-02')).to.deep.equal([]);
  });

  for (const filter of ['', 'machine=check-ttl', 'entity=default/web-01', 'check=disk']) {
    it(`is the same in pages of any size, with the filter "${filter}"`, async () => {
      const whole = await list(filter);
      for (const limit of [1, 2, 3]) {
        const paged: Listed[] = [];
        for (let token = ''; ;) {
          const { json, headers } = await api.get(`/api/mon/v1/actors?${filter}&limit=${limit}&continue=${token}`);
          paged.push(...(json as Listed[]));
          const next = headers['sensu-continue'];
          if (typeof next !== 'string') break;
          token = next;
        }
        expect(paged).to.deep.equal(whole);
      }
    });
  }

  for (const [query, rule] of [
    ['machine=queue', 'machine must be one of entity, check-ttl, connection, check-schedule, check-state, silence'],
    ['entity=web-01', 'entity must be <namespace>/<name>'],
    ['check=a%2Fb', 'check must be the name of a check'],
  ] as const) {
    it(`is refused for ${query}`, async () => {
      const { status, json } = await api.get(`/api/mon/v1/actors?${query}`);
      expect([status, (json as { message: string }).message]).to.deep.equal([400, rule]);
    });
  }
});
