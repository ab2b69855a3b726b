import { expect } from 'chai';
import { perSuite } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';
import { ReportingAgent } from '../../support/reporting-agent.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';

const TTL = { ttl: 5, interval: 1 };
const MINUTE_MS = 60_000;

describe('a deletion through the API', () => {
  const backend = perSuite(() => RestartableBackend.start());
  const api = perSuite(() => backend.login());

  const statesOf = async (actor: string, key: string) => (await api.ledger({ actor, key })).map(({ to }) => to);
  const statusOf = async (entity: string, check: string, namespace = 'default') =>
    at(await api.event(entity, check, namespace), 'check', 'status');

  async function deleted(path: string): Promise<void> {
    expect(await api.delete(path)).to.have.property('status', 204);
    expect(await api.delete(path)).to.have.property('status', 404);
  }

  it('case 36: of a failing keepalive event stops the alerts until the next keepalive', async () => {
    const agent = await ReportingAgent.connect(backend, 'del-36');
    await agent.keepalive({ interval: 2, timeout: 5 });
    await backend.clock.advance(5_000);
    expect(await statusOf('del-36', 'keepalive')).to.equal(1);
    await deleted('/ns/default/events/del-36/keepalive');
    await backend.clock.advance(MINUTE_MS);
    expect(await api.event('del-36', 'keepalive')).to.equal(undefined);
    expect(await statesOf('entity', 'default/del-36')).to.deep.equal(['registered', 'warning', 'registered']);
    expect(await api.entity('del-36')).to.not.equal(undefined);

    await agent.keepalive({ interval: 2, timeout: 5 });
    await backend.clock.advance(4_999);
    expect(await statusOf('del-36', 'keepalive')).to.equal(0);
    await backend.clock.advance(1);
    expect(await statusOf('del-36', 'keepalive')).to.equal(1);
  });

  it('of an event disarms its TTL, and its next result starts a new history', async () => {
    const agent = await ReportingAgent.connect(backend, 'del-event');
    await agent.keepalive({ timeout: 3_600 });
    await agent.result('disk', { ...TTL, status: 1 });
    await agent.result('disk', { ...TTL, status: 1 });
    await deleted('/ns/default/events/del-event/disk');
    await backend.clock.advance(MINUTE_MS);
    expect(await api.event('del-event', 'disk')).to.equal(undefined);
    expect(await statesOf('check-ttl', 'default/del-event/disk')).to.deep.equal(['registered', 'deregistered']);
    expect(await statesOf('check-state', 'default/del-event/disk')).to.deep.equal(['failing', null]);
    await agent.result('disk', { status: 1 });
    expect(at(await api.event('del-event', 'disk'), 'check')).to.deep.include({ occurrences: 1 });
  });

  it('of an entity removes its events, TTLs and monitor at once, and the agent registers again', async () => {
    const agent = await ReportingAgent.connect(backend, 'del-entity');
    await agent.keepalive({ interval: 2, timeout: 5 });
    await agent.result('disk', TTL);
    await agent.result('cpu', {});
    await deleted('/ns/default/entities/del-entity');
    await backend.clock.advance(MINUTE_MS);
    for (const check of ['disk', 'cpu', 'keepalive']) expect(await api.event('del-entity', check)).to.equal(undefined);
    expect(await api.entity('del-entity')).to.equal(undefined);
    expect(await statesOf('entity', 'default/del-entity')).to.deep.equal(['registered', 'deregistered']);
    expect(await statesOf('check-ttl', 'default/del-entity/disk')).to.deep.equal(['registered', 'deregistered']);
    const [, ended] = await api.ledger({ actor: 'entity', key: 'default/del-entity' });
    expect(ended?.cause).to.deep.equal({ user: 'admin' });

    const again = await ReportingAgent.connect(backend, 'del-entity');
    await again.keepalive({ interval: 2, timeout: 5 });
    expect(await statesOf('entity', 'default/del-entity')).to.deep.equal(['registered', 'deregistered', 'registered']);
    await backend.clock.advance(5_000);
    expect(await statusOf('del-entity', 'keepalive')).to.equal(1);
  });

  it('of a check removes the TTLs of its events and keeps the events', async () => {
    const check = {
      metadata: { name: 'buried', namespace: 'default' },
      command: 'true',
      interval: 600,
      publish: false,
    };
    expect(await api.put('/ns/default/checks/buried', check)).to.have.property('status', 201);
    for (const name of ['del-check-1', 'del-check-2']) {
      const agent = await ReportingAgent.connect(backend, name);
      await agent.keepalive({ timeout: 3_600 });
      await agent.result('buried', TTL);
      await agent.result('other', TTL);
    }
    await deleted('/ns/default/checks/buried');
    await backend.clock.advance(5_000);
    for (const name of ['del-check-1', 'del-check-2']) {
      expect(await statesOf('check-ttl', `default/${name}/buried`)).to.deep.equal(['registered', 'deregistered']);
      expect(at(await api.event(name, 'buried'), 'check')).to.deep.include({ status: 0, occurrences: 1 });
      expect(await statusOf(name, 'other')).to.equal(1);
    }
  });

  it('of a namespace is refused without a change while it contains an entity', async () => {
    expect(await api.put('/api/core/v2/namespaces/full', { name: 'full' })).to.have.property('status', 201);
    const agent = await ReportingAgent.connect(backend, 'del-full', { namespace: 'full' });
    await agent.keepalive({ timeout: 3_600 });
    await agent.result('disk', {});
    expect(await api.delete('/api/core/v2/namespaces/full')).to.have.property('status', 400);
    expect(await api.entity('del-full', 'full')).to.not.equal(undefined);
    expect(await statusOf('del-full', 'disk', 'full')).to.equal(0);
    expect(await api.delete('/ns/full/entities/del-full')).to.have.property('status', 204);
    expect(await api.delete('/api/core/v2/namespaces/full')).to.have.property('status', 204);
  });

  it('of a namespace removes the events of unregistered entities and their TTLs', async () => {
    expect(await api.put('/api/core/v2/namespaces/doomed', { name: 'doomed' })).to.have.property('status', 201);
    const agent = await ReportingAgent.connect(backend, 'del-ns', { namespace: 'doomed' });
    await agent.result('disk', TTL);
    await deleted('/api/core/v2/namespaces/doomed');
    await backend.clock.advance(MINUTE_MS);
    expect(await statesOf('check-ttl', 'doomed/del-ns/disk')).to.deep.equal(['registered', 'deregistered']);
    expect(await api.put('/api/core/v2/namespaces/doomed', { name: 'doomed' })).to.have.property('status', 201);
    expect(await api.event('del-ns', 'disk', 'doomed')).to.equal(undefined);
  });

  it('of a namespace ends its sessions, so that nothing more is stored in it', async () => {
    expect(await api.put('/api/core/v2/namespaces/closed', { name: 'closed' })).to.have.property('status', 201);
    const agent = await backend.connect({ name: 'del-session', namespace: 'closed' });
    await deleted('/api/core/v2/namespaces/closed');
    expect(await agent.closed()).to.deep.equal({ code: 1001, reason: 'bye' });
    const again = backend.connect({ name: 'del-session', namespace: 'closed' });
    await again.then(
      () => expect.fail('the handshake was accepted'),
      (error: unknown) => expect(error).to.have.property('status', 404),
    );
  });
});
