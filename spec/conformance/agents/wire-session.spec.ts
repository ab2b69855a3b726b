import { expect } from 'chai';
import type { AgentClient } from '../../support/agent-client.ts';
import { eventually } from '../../support/eventually.ts';
import { checkEvent, keepalive } from '../../support/example-events.ts';
import { perSuite } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';

const SENTINEL = {
  metadata: { name: 'not found', namespace: 'default' },
  entity_class: 'agent',
  subscriptions: null,
  deregister: false,
  deregistration: {},
};

describe('a session of an agent', () => {
  const backend = perSuite(() => InProcessBackend.start());
  const api = perSuite(() => backend.login());

  /** Connected and registered by its first keepalive. */
  async function registered(name: string): Promise<AgentClient> {
    const agent = await backend.connected({ name });
    agent.send('keepalive', keepalive(name));
    await agent.next('entity_config');
    return agent;
  }

  const stored = (entity: string, check: string) =>
    eventually(() => api.event(entity, check), Boolean, { what: `the event ${check} of ${entity}` });

  /** Resolves after the backend has processed everything that the agent sent before. */
  async function caughtUp(agent: AgentClient, name: string): Promise<void> {
    agent.send('event', checkEvent(name, 'caught-up'));
    await stored(name, 'caught-up');
  }

  it('case 7: begins with an entity_config that says the agent is not found', async () => {
    const agent = await backend.connect({ name: 'ses-new', subscriptions: ['a'] });
    const frame = await agent.nextFrame();
    expect(frame.binary).to.equal(true);
    expect(frame.raw.toString()).to.equal(`entity_config\n${JSON.stringify(SENTINEL)}`);
  });

  it('case 8: of a known entity begins with the stored entity', async () => {
    const agent = await registered('ses-known');
    const metadata = { name: 'ses-known', namespace: 'default', labels: { site: 'ber' } };
    const changed = { entity_class: 'agent', subscriptions: ['db'], metadata };
    expect((await api.put('/ns/default/entities/ses-known', changed)).status).to.equal(200);
    await agent.disconnect();
    const again = await backend.connect({ name: 'ses-known', subscriptions: ['of-the-header'] });
    expect(await again.next('entity_config')).to.deep.include({ metadata, subscriptions: ['db', 'entity:ses-known'] });
  });

  it('case 8: of an agent-managed entity begins without the label for that', async () => {
    const labels = { 'sensu.io/managed_by': 'sensu-agent', site: 'fra' };
    const agent = await backend.connected({ name: 'ses-managed' });
    agent.send('keepalive', keepalive('ses-managed', { entity: { metadata: { ...metaOf('ses-managed'), labels } } }));
    await stored('ses-managed', 'keepalive');
    await agent.disconnect();
    const again = await backend.connect({ name: 'ses-managed' });
    expect(at(await again.next('entity_config'), 'metadata', 'labels')).to.deep.equal({ site: 'fra' });
    expect(at(await api.entity('ses-managed'), 'metadata', 'labels')).to.deep.equal(labels);
  });

  it('case 9: answers a ping with the same body within a second', async () => {
    const agent = await backend.connected({ name: 'ses-ping' });
    expect(await agent.ping('x')).to.be.below(1_000);
  });

  it('case 10: accepts a text message like a binary one', async () => {
    const agent = await backend.connected({ name: 'ses-text' });
    agent.send('keepalive', keepalive('ses-text'), 'text');
    expect(at(await agent.next('entity_config'), 'metadata', 'name')).to.equal('ses-text');
  });

  it('accepts a message in fragments', async () => {
    const agent = await backend.connected({ name: 'ses-fragments' });
    const message = `keepalive\n${JSON.stringify(keepalive('ses-fragments'))}`;
    agent.sendInFragments([message.slice(0, 5), message.slice(5, 200), message.slice(200)]);
    expect(at(await agent.next('entity_config'), 'metadata', 'name')).to.equal('ses-fragments');
  });

  it('case 11: ends with 1002 after a message without a line feed', async () => {
    const agent = await backend.connected({ name: 'ses-no-lf' });
    agent.sendRaw('no line feed at all');
    expect(await agent.closed()).to.have.property('code', 1002);
  });

  it('case 11: continues after a message of unknown type', async () => {
    const agent = await backend.connected({ name: 'ses-bogus' });
    for (const message of ['bogus\n{}', 'Event\n{}', ' event\n{}', '\n{}', 'entity_config\n{}']) agent.sendRaw(message);
    agent.send('keepalive', keepalive('ses-bogus'));
    expect(at(await agent.next('entity_config'), 'metadata', 'name')).to.equal('ses-bogus');
  });

  it('case 12: stores nothing for an undecodable message and continues', async () => {
    const agent = await registered('ses-garbage');
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    for (const payload of ['', '{garbage', '[]', 'null', '"x"', '{}', '\u0000', deep])
      agent.sendRaw(`event\n${payload}`);
    agent.send('event', checkEvent('ses-garbage', 'negative', { status: -1 }));
    await caughtUp(agent, 'ses-garbage');
    const { json } = await api.get('/ns/default/events/ses-garbage');
    expect((json as unknown[]).map((event) => at(event, 'check', 'metadata', 'name'))).to.have.members([
      'caught-up',
      'keepalive',
    ]);
    expect(backend.log.errors).to.deep.equal([]);
  });

  it('ends with 1009 after a message above the limit', async () => {
    const agent = await registered('ses-large');
    agent.sendRaw(`event\n${'x'.repeat(11 * 1024 * 1024)}`);
    expect(await agent.closed()).to.have.property('code', 1009);
  });

  it('case 13: ends with 1001 immediately when its entity is deleted', async () => {
    const agent = await registered('ses-deleted');
    expect((await api.delete('/ns/default/entities/ses-deleted')).status).to.equal(204);
    expect(await agent.closed(1_000)).to.deep.equal({ code: 1001, reason: 'bye' });
    expect(await api.event('ses-deleted', 'keepalive')).to.equal(undefined);
  });

  it('case 16: of a name that is connected twice gets every check request twice', async () => {
    const first = await registered('ses-twice');
    const second = await backend.connected({ name: 'ses-twice' });
    // All agents of one name receive the same, including the first.
    await first.next('entity_config');
    const check = {
      command: 'true',
      interval: 1,
      publish: true,
      subscriptions: ['entity:ses-twice'],
      metadata: { name: 'twice', namespace: 'default' },
    };
    expect((await api.put('/ns/default/checks/twice', check)).status).to.equal(201);
    await backend.clock.advance(2_000);
    for (const agent of [first, second]) {
      const request = await agent.next('check_request');
      expect(at(request, 'config')).to.deep.include({ ...check, metadata: { ...check.metadata, created_by: 'admin' } });
      expect(at(request, 'issued')).to.be.closeTo(backend.clock.nowMs() / 1000, 3);
    }
    expect((await api.delete('/ns/default/checks/twice')).status).to.equal(204);
  });

  it('case 47: refuses an event with an invalid name and one with an id that is not a UUID, and continues', async () => {
    const agent = await registered('ses-named');
    agent.send('event', checkEvent('ses-named', 'named', {}, { metadata: { name: 'x', namespace: 'default' } }));
    agent.send('event', checkEvent('ses-named', 'id', {}, { id: 'not-a-uuid' }));
    await caughtUp(agent, 'ses-named');
    for (const check of ['named', 'id']) expect(await api.event('ses-named', check)).to.equal(undefined);
    expect(agent.isOpen).to.equal(true);
  });

  it('case 47: has the same limits for events through the API, which names the reason', async () => {
    const named = checkEvent('ses-named', 'named', {}, { metadata: { name: 'x', namespace: 'default' } });
    const answer = await api.post('/ns/default/events', named);
    expect([answer.status, answer.json]).to.deep.equal([400, { message: 'events cannot be named', code: 1 }]);
    const withoutUuid = await api.post('/ns/default/events', checkEvent('ses-named', 'id', {}, { id: 'not-a-uuid' }));
    expect(withoutUuid.status).to.equal(400);
    expect(at(withoutUuid.json, 'message')).to.match(/^invalid event id/);
  });

  it('counts all of 200 events of one check sent at once, in their order', async () => {
    const agent = await registered('ses-order');
    for (let n = 1; n <= 200; n += 1) agent.send('event', checkEvent('ses-order', 'c', { status: 1, output: `m${n}` }));
    const event = await eventually(
      () => api.event('ses-order', 'c'),
      (found) => at(found, 'check', 'output') === 'm200',
    );
    expect(at(event, 'check', 'occurrences')).to.equal(200);
    expect(at(event, 'check', 'history')).to.have.lengthOf(21);
  });
});

const metaOf = (name: string) => ({ name, namespace: 'default' });
