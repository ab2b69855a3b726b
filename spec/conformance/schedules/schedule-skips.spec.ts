import { expect } from 'chai';
import { SubscribedAgent } from '../../support/subscribed-agent.ts';
import { perTest } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';
import { RestartableBackend, START_MS } from '../../support/restartable-backend.ts';

const FIRST_TICK_MS = 6_679;
const CHECK = '/ns/default/checks/check-disk';
const window = (beginS: number, endS: number) => ({
  begin: new Date(START_MS + beginS * 1_000).toISOString(),
  end: new Date(START_MS + endS * 1_000).toISOString(),
});

describe('skipped ticks of a check', () => {
  const backend = perTest(() => RestartableBackend.start());
  const api = perTest(() => backend.login());
  const agent = perTest(() => SubscribedAgent.register(backend, 'runner', 'sys'));

  async function put(changes: object = {}): Promise<void> {
    const metadata = { name: 'check-disk', namespace: 'default' };
    const check = { metadata, command: 'x', interval: 10, subscriptions: ['sys'], publish: true, ...changes };
    expect(await api.put(CHECK, check)).to.have.property('status', 201);
    await backend.clock.settle();
  }

  const schedule = async (): Promise<unknown> =>
    (await api.get('/api/mon/v1/namespaces/default/checks/check-disk/schedule')).json;

  it('are those in a subdue window, with that reason; other ticks stay on their grid, and ad hoc runs are sent', async () => {
    await put({ subdues: [window(10, 30)] });
    await backend.clock.advance(FIRST_TICK_MS);
    expect(await agent.requestCount()).to.equal(1);
    await backend.clock.advance(20_000);
    expect(await agent.requestCount()).to.equal(0);
    expect(at(await schedule(), 'last_skip')).to.deep.equal({ at: START_MS / 1_000 + 26, reason: 'subdued' });
    expect((await api.post(`${CHECK}/execute`, {})).status).to.equal(202);
    expect(await agent.requestCount()).to.equal(1);
    await backend.clock.advance(10_000);
    expect(await agent.requestCount()).to.equal(1);
  });

  it('do not follow from weekly windows, which have no effect; the log and the schedule report that', async () => {
    await put({ subdue: { days: { all: [{ begin: '12:00AM', end: '11:59PM' }] } } });
    await backend.clock.advance(FIRST_TICK_MS);
    expect(await agent.requestCount()).to.equal(1);
    expect(await schedule()).to.deep.include({ ignored: ['subdue'], last_skip: null });
    const line = backend.log.lines.find(({ msg }) => msg === 'fields of the check have no effect');
    expect(line?.fields).to.deep.include({ namespace: 'default', check: 'check-disk', fields: ['subdue'] });
  });

  it('are those of a request whose assets exceed 2 MiB; to run such a check now is refused', async () => {
    const runtime_assets = Array.from({ length: 6 }, (_, n) => `large-${n}`);
    for (const name of runtime_assets) {
      const metadata = { name, namespace: 'default' };
      const builds = [{ url: `http://a/${'x'.repeat(400_000)}`, sha512: 'a'.repeat(128) }];
      expect(await api.put(`/ns/default/assets/${name}`, { metadata, builds })).to.have.property('status', 201);
    }
    await put({ runtime_assets });
    await backend.clock.advance(FIRST_TICK_MS);
    expect(await agent.requestCount()).to.equal(0);
    const detail = 'too long: the assets and hooks of the check exceed 2097152 bytes';
    expect(at(await schedule(), 'last_skip')).to.deep.include({ reason: 'too long', detail });
    const refused = await api.post(`${CHECK}/execute`, {});
    expect(refused).to.have.property('status', 400);
    expect(JSON.stringify(refused.json)).to.contain(detail);
  });

  it('are each explained by the last ledger entry before them', async () => {
    await put({ publish: false });
    await backend.clock.advance(FIRST_TICK_MS + 20_000);
    await put({ subdues: [window(30, 60)] });
    await backend.clock.advance(20_000);
    await put();
    await backend.clock.advance(30_000);
    await agent.leave();
    await backend.clock.advance(20_000);
    const entries = await api.ledger({ actor: 'checks', key: 'default/check-disk' });
    const explained = entries.filter(({ event }) => event.startsWith('tick'));
    expect(explained.map(({ event, details }) => [event, at(details, 'reason')])).to.deep.equal([
      ['tick.skipped', 'not published'],
      ['tick.skipped', 'subdued'],
      ['ticks.resumed', undefined],
      ['tick.skipped', 'no agents'],
    ]);
  });
});
