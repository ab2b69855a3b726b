import { expect } from 'chai';
import type { AgentClient } from '../support/agent-client.ts';
import type { ApiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { agentEntity, checkEvent, keepalive, proxyEvent } from '../support/example-events.ts';
import { at } from '../support/json-path.ts';
import { RestartableBackend } from '../support/restartable-backend.ts';

const NAME = 'web-01';
const PREFIX = `default/${NAME}/`;
const EVENTS = 1_000;
const TTL = { ttl: 60, interval: 1, status: 1 };
const LONGER_THAN_ANY_TTL_MS = 180_000;
const PROXY = 'switch-01';

describe('F22: deleting an entity while its events arrive', function () {
  this.timeout(60_000);
  let backend: RestartableBackend;
  let api: ApiClient;

  beforeEach(async () => {
    backend = await RestartableBackend.start();
    api = await backend.login();
  });

  afterEach(() => backend.stop());

  const countOf = async (entity: string) => {
    const { status, json } = await api.get(`/ns/default/events/${entity}`);
    return status === 404 ? 0 : (json as unknown[]).length;
  };
  const silencesOf = async (entity: string) =>
    ((await api.get('/ns/default/silenced')).json as unknown[]).filter(
      (entry) => at(entry, 'subscription') === `entity:${entity}`,
    );
  const ledgerOf = async (actor: string) =>
    (await api.ledger({ actor })).filter(({ key }) => key.startsWith(PREFIX) || key.startsWith(`default/${PROXY}/`));

  async function silence(entity: string, check: string): Promise<void> {
    const fields = { subscription: `entity:${entity}`, check };
    const metadata = { name: `entity:${entity}:${check}`, namespace: 'default' };
    const { status, text } = await api.put(`/ns/default/silenced/${metadata.name}`, { metadata, ...fields });
    expect(status, text).to.equal(201);
  }

  /** Expects that no event and no silence is left, and that no alert follows. */
  async function expectGone(entity: string): Promise<void> {
    expect(await api.entity(entity)).to.equal(undefined);
    expect(await countOf(entity)).to.equal(0);
    expect(await silencesOf(entity)).to.deep.equal([]);
    await backend.clock.advance(LONGER_THAN_ANY_TTL_MS);
    api = await backend.login();
    expect(await countOf(entity)).to.equal(0);
    expect((await ledgerOf('check-ttl')).filter(({ event }) => event === 'deadline.reached')).to.deep.equal([]);
    expect(backend.store.keys('events', { from: '', to: '~', limit: 10 })).to.satisfy(
      (keys: Iterable<string>) => ![...keys].some((key) => key.startsWith(`default/${entity}/`)),
    );
  }

  async function agentWithEvents(): Promise<AgentClient> {
    const agent = await backend.connect({ name: NAME });
    agent.send('keepalive', keepalive(NAME, { timestamp: backend.nowS }));
    for (let n = 0; n < EVENTS; n += 1) agent.send('event', checkEvent(NAME, `check-${n}`, TTL));
    await agent.ping('all events read');
    await eventually(
      () => countOf(NAME),
      (count) => count === EVENTS + 1,
      { what: 'the events', withinMs: 20_000 },
    );
    return agent;
  }

  it('removes 1,000 events of an agent with their check TTLs, its keepalive monitor, its silences and the events that still arrive', async () => {
    const agent = await agentWithEvents();
    await silence(NAME, 'check-7');
    await silence(NAME, 'keepalive');
    let sent = 0;
    const ingest = (): void => {
      if (!agent.isOpen) return;
      for (let n = 0; n < 20; n += 1) {
        agent.send('event', checkEvent(NAME, `late-${sent}`, TTL));
        sent += 1;
      }
      setImmediate(ingest);
    };
    ingest();
    await eventually(() => sent >= 200, Boolean, { what: 'events in transit' });
    const { status } = await api.delete(`/ns/default/entities/${NAME}`);
    expect(status).to.equal(204);
    expect(await agent.closed()).to.deep.equal({ code: 1001, reason: 'bye' });
    await backend.clock.settle();
    await expectGone(NAME);
  });

  it('removes the earlier events of a proxy entity, which later events create again', async () => {
    const put = (check: string) => api.put(`/ns/default/events/${PROXY}/${check}`, proxyEvent(PROXY, check, TTL));
    await put('first');
    await silence(PROXY, 'first');
    const before = Array.from({ length: EVENTS }, (_, n) => put(`check-${n}`));
    const { status } = await api.delete(`/ns/default/entities/${PROXY}`);
    expect(status).to.equal(204);
    expect((await Promise.all(before)).every((answer) => answer.status === 200)).to.equal(true);
    // Events after the deletion create the entity again: every stored event has an entity.
    const left = await countOf(PROXY);
    expect(left === 0).to.equal((await api.entity(PROXY)) === undefined);
    expect(await silencesOf(PROXY)).to.deep.equal([]);
    await api.delete(`/ns/default/entities/${PROXY}`);
    await expectGone(PROXY);

    await put('again');
    expect(at(await api.event(PROXY, 'again'), 'check')).to.deep.include({ occurrences: 1 });
    expect(at(await api.entity(PROXY), 'entity_class')).to.equal('proxy');
  });

  it('leaves nothing of an agent to the entity that its next keepalive creates', async () => {
    const agent = await agentWithEvents();
    await api.delete(`/ns/default/entities/${NAME}`);
    await agent.closed();
    const again = await backend.connect({ name: NAME });
    again.send('keepalive', keepalive(NAME, { timestamp: backend.nowS, entity: agentEntity(NAME) }));
    await again.ping('read');
    await eventually(
      () => countOf(NAME),
      (count) => count === 1,
      { what: 'the keepalive' },
    );
    expect(at(await api.event(NAME, 'keepalive'), 'check', 'history')).to.have.lengthOf(1);
  });
});
