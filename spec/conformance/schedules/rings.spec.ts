import { expect } from 'chai';
import { perTest } from '../../support/fixture.ts';
import { ReportingAgent } from '../../support/reporting-agent.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';

describe('the rings of round-robin checks', () => {
  const backend = perTest(() => RestartableBackend.start());
  const api = perTest(() => backend.login());

  const rings = async () => (await api.get('/api/mon/v1/namespaces/default/rings')).json;
  const connected = (name: string, ...subscriptions: string[]) =>
    ReportingAgent.connect(backend, name, { subscriptions });
  const registers = (agent: ReportingAgent, timeout: number, ...subscriptions: string[]) =>
    agent.keepalive({ interval: 2, timeout, entity: { subscriptions: [...subscriptions, `entity:${agent.name}`] } });

  it('are joined by a keepalive, not by a connection, and never for the subscription of the entity itself', async () => {
    const one = await connected('web-1', 'linux', 'web');
    const other = await connected('web-2', 'linux');
    expect(await rings()).to.deep.equal({});
    await registers(one, 10, 'linux', 'web');
    expect(await rings()).to.deep.equal({ linux: ['web-1'], web: ['web-1'] });
    await registers(other, 10, 'linux');
    expect(await rings()).to.deep.equal({ linux: ['web-1', 'web-2'], web: ['web-1'] });
  });

  it('are left when no keepalive arrives within the warning timeout of the newest one', async () => {
    const agent = await connected('web-1', 'linux');
    await registers(agent, 10, 'linux');
    await backend.clock.advance(9_999);
    expect(await rings()).to.deep.equal({ linux: ['web-1'] });
    await registers(agent, 20, 'linux');
    await backend.clock.advance(19_999);
    expect(await rings()).to.deep.equal({ linux: ['web-1'] });
    await backend.clock.advance(1);
    expect(await rings()).to.deep.equal({});
  });

  it('are left with the connection, unless another one of the same name keeps the place', async () => {
    const one = await connected('web-1', 'linux');
    await registers(one, 60, 'linux');
    const same = await connected('web-1', 'linux');
    await registers(same, 60, 'linux');
    await one.vanish();
    expect(await rings()).to.deep.equal({ linux: ['web-1'] });
    await same.vanish();
    expect(await rings()).to.deep.equal({});
  });

  it('are kept by the lease of an ended connection while another one of the same name is open', async () => {
    const one = await connected('web-1', 'linux');
    await registers(one, 60, 'linux');
    await backend.clock.advance(20_000);
    const same = await connected('web-1', 'linux');
    await one.vanish();
    expect(await rings()).to.deep.equal({ linux: ['web-1'] });
    await backend.clock.advance(39_999);
    expect(await rings()).to.deep.equal({ linux: ['web-1'] });
    await backend.clock.advance(1);
    expect(await rings()).to.deep.equal({});
    await registers(same, 60, 'linux');
    expect(await rings()).to.deep.equal({ linux: ['web-1'] });
  });

  it('are kept by the newest keepalive of a name, on any of its connections', async () => {
    const one = await connected('web-1', 'linux');
    await registers(one, 60, 'linux');
    const same = await connected('web-1', 'linux');
    await one.vanish();
    await registers(same, 10, 'linux');
    await backend.clock.advance(9_999);
    expect(await rings()).to.deep.equal({ linux: ['web-1'] });
    await backend.clock.advance(1);
    expect(await rings()).to.deep.equal({});
  });

  it('are left when the newest keepalive of a name says so, even if an older one of an ended connection would last longer', async () => {
    const one = await connected('web-1', 'linux');
    await registers(one, 120, 'linux');
    const same = await connected('web-1', 'linux');
    await registers(same, 5, 'linux');
    await one.vanish();
    await backend.clock.advance(4_999);
    expect(await rings()).to.deep.equal({ linux: ['web-1'] });
    await backend.clock.advance(1);
    expect(await rings()).to.deep.equal({});
  });

  it('are left with the last connection of a name, and not joined by the next connection alone', async () => {
    const one = await connected('web-1', 'linux');
    await registers(one, 60, 'linux');
    const same = await connected('web-1', 'linux');
    await one.vanish();
    await same.vanish();
    await connected('web-1', 'linux');
    expect(await rings()).to.deep.equal({});
  });

  it('are left when the subscription is removed from the entity', async () => {
    const agent = await connected('web-1', 'linux', 'web');
    await registers(agent, 60, 'linux', 'web');
    const entity = await api.entity('web-1');
    await api.put('/ns/default/entities/web-1', { ...(entity as object), subscriptions: ['web'] });
    await backend.clock.settle();
    expect(await rings()).to.deep.equal({ web: ['web-1'] });
  });
});
