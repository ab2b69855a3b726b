import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { BackendConfig } from '../../../src/config/backend.ts';
import { type AgentOptions, agentHeaders, HandshakeRefused } from '../../support/agent-client.ts';
import type { ApiAnswer, ApiClient } from '../../support/api-client.ts';
import { eventually } from '../../support/eventually.ts';
import { checkEvent, keepalive, proxyEvent } from '../../support/example-events.ts';
import { at } from '../../support/json-path.ts';
import { rawRequest } from '../../support/raw-handshake.ts';
import { ReportingAgent } from '../../support/reporting-agent.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';
import { scrape } from '../../support/scrape.ts';

type Json = Record<string, unknown>;

const EVERYBODY = { serveWaitMs: 0, connectionsPerS: 0, refusesDuplicates: false };

describe('admission to the agent port', () => {
  let backend: RestartableBackend;
  let api: ApiClient;

  async function start(changes: Partial<BackendConfig>): Promise<void> {
    backend = await RestartableBackend.start({ configure: (config) => ({ ...config, ...changes }) });
    api = await backend.login();
  }

  afterEach(() => backend.stop());

  /** The status and text of a refused handshake; status 101 if it succeeds. */
  async function handshake(name: string, options: Partial<AgentOptions> = {}): Promise<[number, string]> {
    try {
      await backend.connect({ name, ...options });
      return [101, ''];
    } catch (error) {
      if (error instanceof HandshakeRefused) return [error.status, error.body];
      throw error;
    }
  }

  const get = async (path: string): Promise<[number, string]> => {
    const { status, body } = await rawRequest(backend.agentPort, { path, lines: [], upgrade: false });
    return [status, body];
  };

  /** The agent, status and reason of each refusal, newest first. */
  async function refusals(): Promise<unknown[]> {
    const { json } = await api.get('/api/mon/v1/handshake-refusals');
    return (json as Json[]).map(({ agent, status, reason, count }) => [agent, status, reason, count]);
  }

  it('is refused with 403 in each namespace in which the user may not create events', async () => {
    await start({ agentAdmission: EVERYBODY });
    for (const name of ['tenant', 'other']) await api.put(`/api/core/v2/namespaces/${name}`, { name });
    const credentials = { username: 'tenant-editor', password: 'P@ssw0rd!' };
    await api.post('/api/core/v2/users', credentials);
    const bound = await api.put('/api/core/v2/namespaces/tenant/rolebindings/editors', {
      metadata: { name: 'editors', namespace: 'tenant' },
      role_ref: { type: 'ClusterRole', name: 'edit' },
      subjects: [{ type: 'User', name: credentials.username }],
    });
    expect(bound.status).to.equal(201);
    expect((await handshake('adm-tenant', { credentials, namespace: 'tenant' }))[0]).to.equal(101);
    for (const namespace of ['other', 'default', 'mon-system'])
      expect((await handshake('adm-tenant', { credentials, namespace }))[0], namespace).to.equal(403);
  });

  describe('behind the start gate', () => {
    beforeEach(() => start({ agentAdmission: { ...EVERYBODY, serveWaitMs: 5_000 } }));

    const CLOSED = [503, 'agentd temporarily unavailable during startup\n'];

    it('case 5: is refused with 503, with or without credentials, until the delay is over', async () => {
      expect(await handshake('adm-early')).to.deep.equal(CLOSED);
      expect(await get('/')).to.deep.equal(CLOSED);
      await backend.clock.advance(4_999);
      expect(await handshake('adm-early')).to.deep.equal(CLOSED);
      expect(await refusals()).to.deep.include(['adm-early', 503, 'agentd temporarily unavailable during startup', 2]);
      await backend.clock.advance(1);
      expect(await handshake('adm-early')).to.deep.equal([101, '']);
    });

    it('case 5: leaves the backend healthy but not ready until the delay is over', async () => {
      expect(await get('/ready')).to.deep.equal(CLOSED);
      expect((await get('/health'))[0]).to.equal(200);
      expect(await get('/foo')).to.deep.equal([404, '404 page not found\n']);
      expect((await api.get('/ready')).status).to.equal(200);
      await backend.clock.advance(5_000);
      expect(await get('/ready')).to.deep.equal([200, 'ready\n']);
    });

    it('is delayed again after each start', async () => {
      await backend.clock.advance(5_000);
      expect(await handshake('adm-again')).to.deep.equal([101, '']);
      await backend.halt();
      await backend.resume();
      expect(await handshake('adm-again')).to.deep.equal(CLOSED);
    });
  });

  describe('with a rate limit', () => {
    beforeEach(() => start({ agentAdmission: { ...EVERYBODY, connectionsPerS: 2 } }));

    const TOO_MANY = [429, 'Too Many Requests\n'];

    it('is refused with 429 above the connections per second, before credentials are checked', async () => {
      for (const name of ['adm-1', 'adm-2']) expect(await handshake(name)).to.deep.equal([101, '']);
      expect(await handshake('adm-3')).to.deep.equal(TOO_MANY);
      expect(await get('/')).to.deep.equal(TOO_MANY);
      expect(await refusals()).to.deep.include(['adm-3', 429, 'Too Many Requests', 1]);
      await backend.clock.advance(500);
      expect(await handshake('adm-3')).to.deep.equal([101, '']);
      expect(await handshake('adm-4')).to.deep.equal(TOO_MANY);
    });

    it('does not count requests for other paths', async () => {
      for (let n = 0; n < 10; n += 1) expect((await get('/health'))[0]).to.equal(200);
      expect((await get('/ready'))[0]).to.equal(200);
      expect((await get('/foo'))[0]).to.equal(404);
      expect(await handshake('adm-1')).to.deep.equal([101, '']);
    });
  });

  describe('of a second agent of a name', () => {
    const refusing = () => start({ agentAdmission: { ...EVERYBODY, refusesDuplicates: true } });

    it('is granted unless duplicates are refused by configuration', async () => {
      await start({});
      for (let n = 0; n < 2; n += 1) expect(await handshake('adm-twin')).to.deep.equal([101, '']);
    });

    it('is refused with 409 while the first is connected', async () => {
      await refusing();
      const first = await backend.connect({ name: 'adm-twin' });
      expect(await handshake('adm-twin')).to.deep.equal([409, 'another agent adm-twin is connected\n']);
      expect(await refusals()).to.deep.include(['adm-twin', 409, 'another agent adm-twin is connected', 1]);
      expect(first.isOpen).to.equal(true);
      expect(await handshake('adm-other')).to.deep.equal([101, '']);
      await first.disconnect();
      await eventually(
        () => handshake('adm-twin'),
        ([status]) => status === 101,
        { what: 'room for the next' },
      );
    });

    it('is granted to one of several that connect at the same time', async () => {
      await refusing();
      const statuses = await Promise.all(Array.from({ length: 5 }, () => handshake('adm-twin')));
      expect(statuses.map(([status]) => status)).to.have.members([101, 409, 409, 409, 409]);
    });

    it('does not reveal connected agents to clients without credentials', async () => {
      await refusing();
      await backend.connect({ name: 'adm-twin' });
      const wrong = { username: 'agent', password: 'wrong' };
      expect((await handshake('adm-twin', { credentials: wrong }))[0]).to.equal(401);
    });
  });

  describe('at the entity limit', () => {
    const LIMIT = 2;
    const REACHED = { message: 'entity limit reached: this instance allows 2 entities', code: 6 };
    const ENTITIES = '/ns/default/entities';

    beforeEach(() => start({ entityLimit: LIMIT }));

    const proxy = (name: string): Json => ({ entity_class: 'proxy', metadata: { name, namespace: 'default' } });
    const put = (name: string): Promise<ApiAnswer> => api.put(`${ENTITIES}/${name}`, proxy(name));
    const answerOf = ({ status, json }: ApiAnswer): unknown[] => [status, json];

    async function fill(): Promise<void> {
      for (const name of ['adm-a', 'adm-b']) expect((await put(name)).status).to.equal(200);
    }

    it('case 60: is refused with 402 to a new agent and granted to a known one', async () => {
      const known = await ReportingAgent.connect(backend, 'adm-known');
      await known.keepalive();
      await put('adm-b');
      expect(await handshake('adm-new')).to.deep.equal([402, 'entity limit reached\n']);
      expect(await refusals()).to.deep.include(['adm-new', 402, 'entity limit reached', 1]);
      await known.vanish();
      expect(await handshake('adm-known')).to.deep.equal([101, '']);
    });

    it('case 60: is checked after the credentials and the rights, and before the namespace', async () => {
      await fill();
      await api.post('/api/core/v2/users', { username: 'powerless', password: 'P@ssw0rd!' });
      const wrong = { username: 'agent', password: 'wrong' };
      const powerless = { username: 'powerless', password: 'P@ssw0rd!' };
      expect((await handshake('adm-new', { credentials: wrong }))[0]).to.equal(401);
      expect((await handshake('adm-new', { credentials: powerless }))[0]).to.equal(403);
      expect((await handshake('adm-new', { namespace: 'nope' }))[0]).to.equal(402);
      expect((await handshake('bad name!'))[0]).to.equal(400);
    });

    it('keeps existing entities when the limit is lowered, and admits no new ones', async () => {
      await backend.stop();
      let entityLimit = LIMIT;
      // The configuration is read at each start.
      backend = await RestartableBackend.start({
        configure: (config) => ({
          ...config,
          get entityLimit() {
            return entityLimit;
          },
        }),
      });
      api = await backend.login();
      const agent = await ReportingAgent.connect(backend, 'adm-known');
      await agent.keepalive();
      await put('adm-b');
      entityLimit = 1;
      await backend.halt();
      await backend.resume();
      api = await backend.login();
      const again = await ReportingAgent.connect(backend, 'adm-known');
      await again.keepalive();
      await again.result('c', { status: 1 });
      expect(at(await api.event('adm-known', 'c'), 'check', 'status')).to.equal(1);
      expect((await put('adm-b')).status).to.equal(200);
      expect((await put('adm-c')).status).to.equal(402);
      expect((await handshake('adm-new'))[0]).to.equal(402);
    });

    it('case 60: makes the API refuse new entities and allow updates', async () => {
      await fill();
      const path = `${ENTITIES}/adm-c`;
      expect(answerOf(await api.post(ENTITIES, proxy('adm-c')))).to.deep.equal([402, REACHED]);
      expect(answerOf(await api.put(path, proxy('adm-c')))).to.deep.equal([402, REACHED]);
      expect((await api.get(path)).status).to.equal(404);
      expect((await api.put(`${ENTITIES}/adm-a`, { ...proxy('adm-a'), subscriptions: ['x'] })).status).to.equal(200);
      expect((await api.post(ENTITIES, proxy('adm-a'))).status).to.equal(409);
    });

    it('case 60: makes the API answer 402 to an event that would create a proxy entity', async () => {
      await fill();
      const send = (entity: string) => api.put(`/ns/default/events/${entity}/c`, proxyEvent(entity, 'c'));
      expect(answerOf(await send('adm-c'))).to.deep.equal([402, REACHED]);
      expect(await api.event('adm-c', 'c')).to.equal(undefined);
      expect((await send('adm-a')).status).to.equal(200);
      const post = await api.post('/ns/default/events', proxyEvent('adm-c', 'c'));
      expect(answerOf(post)).to.deep.equal([402, REACHED]);
    });

    it('case 60: drops such an event of an agent, acknowledges it, counts it, and logs it once a minute', async () => {
      const queueId = randomUUID();
      const agent = await backend.connect({ name: 'adm-known', queueId });
      agent.send('keepalive', keepalive('adm-known', { timestamp: backend.nowS }));
      await agent.next('entity_config');
      await put('adm-b');
      const send = (n: number, entity: string) => {
        agent.send(`event ${n}`, checkEvent('adm-known', 'c', { proxy_entity_name: entity }));
      };
      for (const n of [1, 2, 3]) send(n, 'adm-c');
      send(4, 'adm-d');
      send(5, 'adm-b');
      await eventually(() => agent.waitingFrames.at(-1)?.payload.toString() === '5', Boolean, { what: 'all acks' });
      expect(await api.entity('adm-c')).to.equal(undefined);
      expect(await api.event('adm-c', 'c')).to.equal(undefined);
      expect(await api.event('adm-b', 'c')).to.not.equal(undefined);
      const [session] = (await api.get('/api/mon/v1/sessions')).json as Json[];
      expect(session).to.deep.include({ agent: 'adm-known', refused: 4 });
      expect(at(session, 'last_refusal', 'reason')).to.equal(REACHED.message);

      const dropped = (): unknown[] =>
        backend.log.lines
          .filter(({ msg }) => msg === 'entity limit reached, events of a new proxy entity are dropped')
          .map(({ fields }) => [fields['entity'], fields['events']]);
      const first = [
        ['default/adm-c', 1],
        ['default/adm-d', 1],
      ];
      expect(dropped()).to.deep.equal(first);
      await backend.clock.advance(59_999);
      send(6, 'adm-c');
      await agent.ping('6');
      expect(dropped()).to.deep.equal(first);
      await backend.clock.advance(1);
      send(7, 'adm-c');
      await agent.ping('7');
      expect(dropped()).to.deep.equal([...first, ['default/adm-c', 4]]);
    });

    it('closes a connection with 1008 if its agent can no longer be registered', async () => {
      await put('adm-a');
      const [first, second] = await Promise.all([
        backend.connect({ name: 'adm-first' }),
        backend.connect({ name: 'adm-second' }),
      ]);
      first.send('keepalive', keepalive('adm-first', { timestamp: backend.nowS }));
      await first.next('entity_config');
      second.send('keepalive', keepalive('adm-second', { timestamp: backend.nowS }));
      expect(await second.closed()).to.deep.equal({ code: 1008, reason: 'entity limit reached' });
      expect(first.isOpen).to.equal(true);
      expect(await api.entity('adm-second')).to.equal(undefined);
      expect((await handshake('adm-second'))[0]).to.equal(402);
      await backend.clock.settle();
      const states = (await api.ledger({ actor: 'connection' })).filter(
        ({ event }) => event === 'registration.refused',
      );
      expect(states.map(({ from, to }) => [from, to])).to.deep.equal([['registered', 'critical']]);
    });

    it('has room again when an entity is deleted or its agent deregisters', async () => {
      await put('adm-a');
      const leaving = await ReportingAgent.connect(backend, 'adm-leaving');
      await leaving.keepalive({ timeout: 5, interval: 2, entity: { deregister: true } });
      expect((await put('adm-b')).status).to.equal(402);
      await leaving.vanish();
      await backend.clock.advance(5_000);
      expect(await api.entity('adm-leaving')).to.equal(undefined);
      expect((await put('adm-b')).status).to.equal(200);
      expect((await put('adm-c')).status).to.equal(402);
      expect((await api.delete(`${ENTITIES}/adm-a`)).status).to.equal(204);
      expect((await put('adm-c')).status).to.equal(200);
    });

    it('counts stored entities across restarts, without those of failed writes', async () => {
      await put('adm-a');
      backend.store.failNextWrites(1);
      expect((await put('adm-lost')).status).to.equal(503);
      await backend.clock.advance(1_000);
      backend.store.failNextWrites(1);
      expect((await api.delete(`${ENTITIES}/adm-a`)).status).to.equal(503);
      await backend.clock.advance(1_000);
      await backend.halt();
      await backend.resume();
      api = await backend.login();
      expect((await put('adm-b')).status).to.equal(200);
      expect((await put('adm-c')).status).to.equal(402);
    });

    it('does not count the entity of the backend itself', async () => {
      await fill();
      const { headers, json } = await api.get('/api/core/v2/entities');
      expect((json as Json[]).map((entity) => at(entity, 'metadata', 'namespace'))).to.include('mon-system');
      expect(headers).to.include({ 'sensu-entity-count': '2', 'sensu-entity-limit': '2' });
    });

    it('reports its use, with a warning, in every response of the core API', async () => {
      const limitHeaders = async (path: string): Promise<unknown[]> => {
        const { headers } = await api.get(path);
        return ['count', 'limit', 'warning'].map((name) => headers[`sensu-entity-${name}`]);
      };
      expect(await limitHeaders(ENTITIES)).to.deep.equal(['0', '2', '']);
      expect((await put('adm-a')).headers).to.include({ 'sensu-entity-count': '1' });
      expect(await limitHeaders(`${ENTITIES}/ghost`)).to.deep.equal(['1', '2', '']);
      await put('adm-b');
      expect(await limitHeaders(ENTITIES)).to.deep.equal(['2', '2', '2 of the 2 entities that are allowed exist']);
      expect(await limitHeaders('/api/mon/v1/sessions')).to.deep.equal([undefined, undefined, undefined]);
    });
  });

  describe('of results at the limits of one entity', () => {
    const BYTES = 30_000;

    beforeEach(() => start({ entityUseLimits: { checks: 3, bytes: BYTES } }));

    const put = (check: string, output = '', entity = 'adm-p') =>
      api.put(`/ns/default/events/${entity}/${check}`, proxyEvent(entity, check, { output }));
    const warning = async (): Promise<unknown> =>
      (await api.get('/ns/default/entities')).headers['sensu-entity-warning'];

    it('is refused to a further check with 402, and granted to the known ones and to keepalives', async () => {
      for (const check of ['a', 'b', 'c']) expect((await put(check)).status).to.equal(200);
      const { status, json } = await put('d');
      const message = 'entity default/adm-p is full: its results may have 3 checks (--entity-check-limit)';
      expect([status, json]).to.deep.equal([402, { message, code: 6 }]);
      expect(await api.event('adm-p', 'd')).to.equal(undefined);
      for (const check of ['a', 'keepalive']) expect((await put(check)).status).to.equal(200);
      expect((await put('d', '', 'adm-q')).status).to.equal(200);
      expect((await api.delete('/ns/default/events/adm-p/b')).status).to.equal(204);
      expect((await api.delete('/ns/default/events/adm-p/keepalive')).status).to.equal(204);
      expect((await put('d')).status).to.equal(200);
    });

    it('is refused to large results that take more together, and granted to small ones', async () => {
      expect((await put('a', 'x'.repeat(15_000))).status).to.equal(200);
      const refused = await put('b', 'x'.repeat(15_000));
      const message = `entity default/adm-p is full: its large results may have ${BYTES} bytes (--entity-size-limit)`;
      expect([refused.status, at(refused.json, 'message')]).to.deep.equal([402, message]);
      expect((await put('a', 'x'.repeat(16_000))).status).to.equal(200);
      expect((await put('b', 'ok')).status).to.equal(200);
      expect((await put('a', 'ok')).status).to.equal(200);
      expect((await put('b', 'x'.repeat(15_000))).status).to.equal(200);
    });

    it('drops such results of an agent, acknowledges them, counts them and logs them once a minute', async () => {
      const agent = await backend.connect({ name: 'adm-agent', queueId: randomUUID() });
      agent.send('keepalive', keepalive('adm-agent', { timestamp: backend.nowS }));
      await agent.next('entity_config');
      for (let n = 1; n <= 5; n += 1) agent.send(`event ${n}`, checkEvent('adm-agent', `c${n}`, { output: '' }));
      await eventually(() => agent.waitingFrames.at(-1)?.payload.toString() === '5', Boolean, { what: 'all acks' });
      expect(await api.event('adm-agent', 'c2')).to.not.equal(undefined);
      expect(await api.event('adm-agent', 'c3')).to.equal(undefined);
      const [session] = (await api.get('/api/mon/v1/sessions')).json as Json[];
      expect(session).to.deep.include({ agent: 'adm-agent', refused: 3 });
      const lines = backend.log.lines.filter(({ msg }) => msg === 'entity is full, events are dropped');
      expect(lines.map(({ fields }) => [fields['entity'], fields['events']])).to.deep.equal([['default/adm-agent', 1]]);
      const metrics = await scrape(backend);
      expect(metrics.value('mon_results_refused_total', { limit: 'checks' })).to.equal(3);
    });

    it('is named in a header of the core API', async () => {
      expect(await warning()).to.equal(undefined);
      for (const check of ['a', 'b', 'c', 'd']) await put(check);
      expect(await warning()).to.equal(
        'results of 1 entity were refused within the last hour, because of their number or size',
      );
    });
  });

  it('has no bound without an entity limit, and the API does not mention one', async () => {
    await start({ entityLimit: 0 });
    for (let n = 0; n < 5; n += 1) {
      const entity = { entity_class: 'proxy', metadata: { name: `adm-${n}`, namespace: 'default' } };
      const { status, headers } = await api.put(`/ns/default/entities/adm-${n}`, entity);
      expect(status).to.equal(200);
      expect(headers).to.not.have.any.keys('sensu-entity-count', 'sensu-entity-limit', 'sensu-entity-warning');
    }
    expect(await handshake('adm-new')).to.deep.equal([101, '']);
  });

  it('applies its rules in order: path, start gate, rate limit, credentials', async () => {
    await start({ agentAdmission: { ...EVERYBODY, serveWaitMs: 1_000, connectionsPerS: 1 } });
    const lines = Object.entries(agentHeaders({ name: 'adm-order' })).map(([name, value]) => `${name}: ${value}`);
    const statusOf = async (path: string, sent: readonly string[]): Promise<number> =>
      (await rawRequest(backend.agentPort, { path, lines: sent, upgrade: true })).status;
    expect(await statusOf('/foo', lines)).to.equal(404);
    expect(await statusOf('/', [])).to.equal(503);
    await backend.clock.advance(1_000);
    expect(await statusOf('/', [])).to.equal(401);
    expect(await statusOf('/', lines)).to.equal(429);
  });
});
