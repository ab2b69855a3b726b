import { expect } from 'chai';
import { perSuite } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';
import { ReportingAgent } from '../../support/reporting-agent.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';

describe('a result of a proxy entity', () => {
  const backend = perSuite(() => RestartableBackend.start());
  const api = perSuite(() => backend.login());
  const agent = perSuite(() => ReportingAgent.connect(backend, 'poller'));

  before(() => agent.keepalive());

  it('case 44: creates an unknown entity and leaves that of the agent unchanged', async () => {
    const own = await api.entity('poller');
    await agent.result('ports', { proxy_entity_name: 'sw-1', processed_by: 'poller' });
    const entity = await api.entity('sw-1');
    expect(entity).to.have.property('entity_class', 'proxy');
    expect(at(entity, 'subscriptions')).to.deep.equal(['entity:sw-1']);
    const event = await api.event('sw-1', 'ports');
    expect(at(event, 'entity', 'metadata', 'name')).to.equal('sw-1');
    expect(at(event, 'check', 'processed_by')).to.equal('poller');
    expect(await api.event('poller', 'ports')).to.equal(undefined);
    expect(await api.entity('poller')).to.deep.equal(own);
    const entries = await api.ledger({ actor: 'entity', key: 'default/sw-1' });
    expect(entries.map(({ from, to, event: what }) => [from, to, what])).to.deep.equal([
      [null, 'registered', 'event.received'],
    ]);
  });

  it('case 45: contains the stored entity if it exists, whatever was sent of it', async () => {
    const stored = {
      entity_class: 'proxy',
      metadata: { name: 'sw-2', namespace: 'default', labels: { rack: 'r7' } },
      subscriptions: ['net'],
    };
    expect((await api.put('/ns/default/entities/sw-2', stored)).status).to.be.oneOf([200, 201]);
    const definition = await api.entity('sw-2');
    await agent.result('ports', { proxy_entity_name: 'sw-2' });
    expect(at(await api.event('sw-2', 'ports'), 'entity', 'metadata', 'labels')).to.deep.equal({ rack: 'r7' });

    const sent = {
      entity_class: 'proxy',
      metadata: { name: 'sw-2', namespace: 'default', labels: { rack: 'wrong' } },
      system: { hostname: 'wrong' },
    };
    await agent.result('fans', {}, { entity: sent });
    const event = await api.event('sw-2', 'fans');
    expect(at(event, 'entity', 'metadata', 'labels')).to.deep.equal({ rack: 'r7' });
    expect(at(event, 'entity', 'subscriptions')).to.deep.equal(['net', 'entity:sw-2']);
    expect(JSON.stringify(event)).to.not.include('wrong');
    expect(await api.entity('sw-2')).to.deep.equal(definition);
  });

  it('creates the entity that it names if its own entity has class proxy', async () => {
    const sent = { entity_class: 'proxy', metadata: { name: 'sw-3', namespace: 'default', labels: { rack: 'r9' } } };
    await agent.result('fans', {}, { entity: sent });
    expect(at(await api.entity('sw-3'), 'metadata', 'labels')).to.deep.equal({ rack: 'r9' });
    expect(at(await api.entity('sw-3'), 'subscriptions')).to.deep.equal(['entity:sw-3']);
  });
});
