import { expect } from 'chai';
import { DELETED_PER_STEP } from '../../../src/actors/events/begin-deletion.ts';
import type { ApiClient } from '../../support/api-client.ts';
import { proxyEvent } from '../../support/example-events.ts';
import { at } from '../../support/json-path.ts';
import { ReportingAgent } from '../../support/reporting-agent.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';

/** More events than three steps delete. */
const EVENTS = 3 * DELETED_PER_STEP + 7;
const TTL = { ttl: 60, interval: 1, status: 1 };
const LONGER_THAN_TTL_MS = 180_000;
const ENTITY = 'switch-1';
/** Time for a few steps, and not for all of them. */
const SOME_STEPS_MS = 2;
const ALL = { from: '', to: '~' };

describe('F22: a deletion of more events than one step deletes', function () {
  this.timeout(60_000);
  let backend: RestartableBackend;
  let api: ApiClient;

  beforeEach(async () => {
    backend = await RestartableBackend.start();
    api = await backend.login();
  });

  afterEach(() => backend.stop());

  const put = async (entity: string, check: string, namespace = 'default') => {
    const event = JSON.stringify(proxyEvent(entity, check, TTL)).replaceAll('"default"', `"${namespace}"`);
    const { status } = await api.put(`/ns/${namespace}/events/${entity}/${check}`, JSON.parse(event));
    expect(status).to.be.oneOf([200, 201]);
  };

  async function fill(entity: string, namespace = 'default'): Promise<void> {
    await Promise.all(Array.from({ length: EVENTS }, (_, n) => put(entity, `check-${n}`, namespace)));
  }

  async function deleted(path: string): Promise<void> {
    expect(await api.delete(path)).to.have.property('status', 204);
  }

  const listed = async (path: string): Promise<unknown[]> => {
    const { status, json } = await api.get(path);
    return status === 404 ? [] : (json as unknown[]);
  };
  const checksOf = async (path: string): Promise<unknown[]> =>
    (await listed(path)).map((event) => at(event, 'check', 'metadata', 'name'));
  const stored = (): string[] => [...backend.store.keys('events', ALL)].filter((key) => !key.startsWith('mon-system/'));
  const armed = async (): Promise<number> => (await listed('/api/mon/v1/actors?machine=check-ttl&limit=1000')).length;

  async function restart(): Promise<void> {
    await backend.restart();
    api = await backend.login();
  }

  async function advance(ms: number): Promise<void> {
    await backend.clock.advance(ms);
    api = await backend.login();
  }

  it('of an entity shows none of them after the answer, in no list, page or single answer', async () => {
    await fill(ENTITY);
    await put('switch-0', 'first');
    await put('switch-2', 'last');
    await deleted(`/ns/default/entities/${ENTITY}`);
    expect(stored()).to.have.length.above(EVENTS);
    expect(await api.entity(ENTITY)).to.equal(undefined);
    expect(await api.event(ENTITY, 'check-7')).to.equal(undefined);
    expect(await listed(`/ns/default/events/${ENTITY}`)).to.deep.equal([]);
    expect(await checksOf('/ns/default/events')).to.deep.equal(['first', 'last']);
    expect(await checksOf('/api/core/v2/events'))
      .to.include.members(['first', 'last'])
      .and.not.include('check-7');
    const { json, headers } = await api.get('/ns/default/events?limit=1');
    expect(json).to.have.lengthOf(1);
    const next = encodeURIComponent(String(headers['sensu-continue']));
    expect(await checksOf(`/ns/default/events?limit=1&continue=${next}`)).to.deep.equal(['last']);
    expect((await api.get(`/api/mon/v1/actors?machine=check-ttl`)).json).to.have.lengthOf(2);
    expect(await api.delete(`/ns/default/events/${ENTITY}/check-7`)).to.have.property('status', 404);
  });

  it('of an entity continues after a restart, and records the end of each event and check TTL with the user as its cause', async () => {
    await fill(ENTITY);
    await deleted(`/ns/default/entities/${ENTITY}`);
    await advance(SOME_STEPS_MS);
    expect(stored().length).to.be.within(1, EVENTS - 1);
    await restart();
    expect(await listed('/ns/default/events')).to.deep.equal([]);
    await advance(LONGER_THAN_TTL_MS);
    expect(stored()).to.deep.equal([]);
    for (const actor of ['check-state', 'check-ttl']) {
      const ends = (await api.ledger({ actor })).filter(
        ({ key, event }) => key.startsWith(`default/${ENTITY}/`) && event === 'entity.deleted',
      );
      expect(ends).to.have.lengthOf(EVENTS);
      expect(new Set(ends.map(({ cause }) => JSON.stringify(cause)))).to.deep.equal(new Set(['{"user":"admin"}']));
    }
    const alerts = (await api.ledger({ actor: 'check-ttl' })).filter(({ event }) => event === 'deadline.reached');
    expect(alerts).to.deep.equal([]);
  });

  it('of an entity keeps the events that create it again, and brings back none of the earlier ones', async () => {
    await fill(ENTITY);
    await put(ENTITY, 'check-9');
    await deleted(`/ns/default/entities/${ENTITY}`);
    await put(ENTITY, 'check-9');
    await put(ENTITY, 'new');
    expect(at(await api.event(ENTITY, 'check-9'), 'check')).to.deep.include({ occurrences: 1 });
    expect(await checksOf(`/ns/default/events/${ENTITY}`)).to.deep.equal(['check-9', 'new']);
    await restart();
    await advance(1_000);
    expect(stored()).to.deep.equal([`default/${ENTITY}/check-9`, `default/${ENTITY}/new`]);
    await put(ENTITY, 'check-9');
    expect(at(await api.event(ENTITY, 'check-9'), 'check')).to.deep.include({ occurrences: 2 });
    await advance(LONGER_THAN_TTL_MS);
    expect(at(await api.event(ENTITY, 'new'), 'check', 'output')).to.match(/^Last check execution was/);
  });

  it('of an entity that is lost before it is durable changes nothing, and the check TTLs still alert', async () => {
    await fill(ENTITY);
    backend.store.failUntilHealed();
    expect(await api.delete(`/ns/default/entities/${ENTITY}`)).to.have.property('status', 503);
    backend.store.heal();
    await advance(2_000);
    expect(await api.entity(ENTITY)).to.not.equal(undefined);
    expect(await listed(`/ns/default/events/${ENTITY}`)).to.have.lengthOf(EVENTS);
    await advance(LONGER_THAN_TTL_MS);
    const outputs = (await listed(`/ns/default/events/${ENTITY}`)).map((event) => at(event, 'check', 'output'));
    expect(outputs).to.satisfy((all: string[]) => all.every((output) => output.startsWith('Last check execution')));
  });

  it('of a namespace hides them at once, and a namespace of that name begins empty', async () => {
    const doomed = '/api/core/v2/namespaces/doomed';
    expect(await api.put(doomed, { name: 'doomed' })).to.have.property('status', 201);
    const agent = await ReportingAgent.connect(backend, 'unregistered', { namespace: 'doomed' });
    for (let n = 0; n < DELETED_PER_STEP + 1; n += 1) {
      agent.socket.send('event', {
        ...JSON.parse(
          JSON.stringify(proxyEvent('unregistered', `check-${n}`, TTL))
            .replaceAll('"default"', '"doomed"')
            .replace('"proxy"', '"agent"'),
        ),
        timestamp: backend.nowS,
      });
    }
    await agent.socket.ping('all read');
    await backend.clock.settle();
    expect(await listed('/ns/doomed/events')).to.have.lengthOf(DELETED_PER_STEP + 1);
    await deleted(doomed);
    expect(await listed('/ns/doomed/events')).to.deep.equal([]);
    expect(await api.put(doomed, { name: 'doomed' })).to.have.property('status', 201);
    await put('fresh', 'check-1', 'doomed');
    await restart();
    await advance(1_000);
    expect(await checksOf('/ns/doomed/events')).to.deep.equal(['check-1']);
    expect(stored()).to.deep.equal(['doomed/fresh/check-1']);
  });

  it('of a check ends its check TTLs at once, keeps its events, and a later result arms one again', async () => {
    const check = { metadata: { name: 'disk', namespace: 'default' }, command: 'true', interval: 600, publish: false };
    expect(await api.put('/ns/default/checks/disk', check)).to.have.property('status', 201);
    const entities = Array.from({ length: EVENTS }, (_, n) => `host-${n}`);
    await Promise.all(entities.map((entity) => put(entity, 'disk')));
    expect(await armed()).to.equal(EVENTS);
    await deleted('/ns/default/checks/disk');
    expect(await armed()).to.equal(0);
    await put('host-9', 'disk');
    expect(await armed()).to.equal(1);
    await advance(SOME_STEPS_MS);
    await restart();
    await advance(LONGER_THAN_TTL_MS);
    const events = await listed('/ns/default/events?limit=1000');
    expect(events).to.have.lengthOf(EVENTS);
    const alerting = events.filter((event) => String(at(event, 'check', 'output')).startsWith('Last check'));
    expect(alerting.map((event) => at(event, 'entity', 'metadata', 'name'))).to.deep.equal(['host-9']);
    const ends = (await api.ledger({ actor: 'check-ttl' })).filter(({ event }) => event === 'check.deleted');
    expect(ends).to.have.lengthOf(EVENTS);
  });

  it('of an entity ends its silences at once, and keeps those that follow', async () => {
    await put(ENTITY, 'check-1');
    const silence = async (check: string): Promise<void> => {
      const body = { metadata: { namespace: 'default' }, subscription: `entity:${ENTITY}`, check };
      expect(await api.post('/ns/default/silenced', body)).to.have.property('status', 201);
    };
    await Promise.all(Array.from({ length: EVENTS }, (_, n) => silence(`check-${n}`)));
    await deleted(`/ns/default/entities/${ENTITY}`);
    expect(await listed('/ns/default/silenced')).to.deep.equal([]);
    expect(await api.get(`/ns/default/silenced/entity:${ENTITY}:check-1`)).to.have.property('status', 404);
    expect(await listed('/api/mon/v1/actors?machine=silence')).to.deep.equal([]);
    await put(ENTITY, 'check-1');
    expect(at(await api.event(ENTITY, 'check-1'), 'check', 'is_silenced')).to.equal(false);
    await silence('check-1');
    await advance(SOME_STEPS_MS);
    await restart();
    await advance(1_000);
    expect((await listed('/ns/default/silenced')).map((entry) => at(entry, 'check'))).to.deep.equal(['check-1']);
    await put(ENTITY, 'check-1');
    expect(at(await api.event(ENTITY, 'check-1'), 'check', 'is_silenced')).to.equal(true);
    const ends = (await api.ledger({ actor: 'silence' })).filter(({ event }) => event === 'entity.deleted');
    expect(ends).to.have.lengthOf(EVENTS);
  });

  it('of an agent that deregisters resolves each of them once', async () => {
    const agent = await ReportingAgent.connect(backend, 'web-1');
    await agent.keepalive({ interval: 2, timeout: 5, entity: { deregister: true } });
    for (let n = 0; n < EVENTS; n += 1) await agent.result(`check-${n}`, { status: 1 });
    await agent.vanish();
    await advance(5_000 + SOME_STEPS_MS);
    expect(await api.entity('web-1')).to.equal(undefined);
    expect(await listed('/ns/default/events')).to.deep.equal([]);
    await restart();
    await advance(10_000);
    expect(stored()).to.deep.equal([]);
    const ends = (await api.ledger({ actor: 'check-state' })).filter(({ event }) => event === 'entity.deregistered');
    expect(ends).to.have.lengthOf(EVENTS + 1);
    expect(ends[0]?.cause).to.have.property('deadlineAtMs');
  });
});
