import { expect } from 'chai';
import { checkEvent, proxyEvent } from '../../support/example-events.ts';
import { perSuite } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';
import { ReportingAgent } from '../../support/reporting-agent.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';

const TTL = { ttl: 5, interval: 1 };

describe('a check with a ttl', () => {
  const backend = perSuite(() => RestartableBackend.start());
  const api = perSuite(() => backend.login());

  const checkOf = async (entity: string, check = 'disk') => at(await api.event(entity, check), 'check');
  const switchOf = async (entity: string, check = 'disk') =>
    (await api.ledger({ actor: 'check-ttl', key: `default/${entity}/${check}` })).map(({ to }) => to);

  /** A registered agent that has just sent a result. */
  async function reporting(name: string, result: Record<string, unknown>): Promise<ReportingAgent> {
    const agent = await ReportingAgent.connect(backend, name);
    await agent.keepalive({ timeout: 3_600 });
    await agent.result('disk', result);
    return agent;
  }

  async function unchangedFor(entity: string, ms: number, check = 'disk'): Promise<void> {
    const before = await checkOf(entity, check);
    await backend.clock.advance(ms);
    expect(await checkOf(entity, check)).to.deep.equal(before);
  }

  it('case 49: yields one event of status 1 after exactly ttl seconds of silence, and again after each ttl', async () => {
    await reporting('ttl-49', { ...TTL, command: 'check-disk', occurrences: 1 });
    const resultId = at(await api.event('ttl-49', 'disk'), 'id');
    for (const occurrences of [1, 2, 3]) {
      await unchangedFor('ttl-49', 4_999);
      await backend.clock.advance(1);
      expect(await checkOf('ttl-49')).to.deep.include({
        status: 1,
        state: 'failing',
        output: `Last check execution was ${5 * occurrences} seconds ago`,
        executed: backend.nowS,
        occurrences,
        command: 'check-disk',
        ttl: 5,
      });
    }
    expect(at(await api.event('ttl-49', 'disk'), 'id')).to.equal(resultId);
    const failed = (await api.ledger({ actor: 'check-state', key: 'default/ttl-49/disk' })).at(-1);
    expect(failed).to.include({ from: 'passing', to: 'failing' });
    expect(failed?.cause).to.have.all.keys('deadlineAtMs');
    expect((at(await checkOf('ttl-49'), 'history') as { status: number }[]).map(({ status }) => status)).to.deep.equal([
      0, 1, 1, 1,
    ]);
    expect(await switchOf('ttl-49')).to.deep.equal(['registered', 'warning']);
  });

  it('resolves with its next result, which arms it again', async () => {
    const agent = await reporting('ttl-back', TTL);
    await backend.clock.advance(5_000);
    await agent.result('disk', TTL);
    expect(await checkOf('ttl-back')).to.deep.include({ status: 0, state: 'passing', occurrences: 1 });
    expect(await switchOf('ttl-back')).to.deep.equal(['registered', 'warning', 'registered']);
    await unchangedFor('ttl-back', 4_999);
    await backend.clock.advance(1);
    expect(await checkOf('ttl-back')).to.deep.include({ status: 1, occurrences: 1 });
  });

  it('is critical when its annotation asks for status 2', async () => {
    const metadata = { name: 'disk', namespace: 'default', annotations: { 'mon.io/ttl-status': '2' } };
    await reporting('ttl-status', { ...TTL, metadata });
    await backend.clock.advance(5_000);
    expect(await checkOf('ttl-status')).to.deep.include({ status: 2, occurrences: 1 });
    expect(await switchOf('ttl-status')).to.deep.equal(['registered', 'critical']);
  });

  it('case 50: raises no more alerts after a result without ttl', async () => {
    const agent = await reporting('ttl-50', TTL);
    await backend.clock.advance(2_000);
    await agent.result('disk', {});
    await unchangedFor('ttl-50', 60_000);
    expect(await switchOf('ttl-50')).to.deep.equal(['registered', 'deregistered']);
  });

  it('case 50: counts from the newest result, with its ttl', async () => {
    const agent = await reporting('ttl-50b', TTL);
    await backend.clock.advance(2_000);
    await agent.result('disk', { ttl: 60, interval: 1 });
    await unchangedFor('ttl-50b', 59_999);
    await backend.clock.advance(1);
    expect(await checkOf('ttl-50b')).to.deep.include({ status: 1 });
  });

  for (const [ttl, interval, rule] of [
    [4, 1, 'minimum ttl is 5 seconds'],
    [60, 60, 'ttl must be greater than check interval'],
  ] as const) {
    it(`case 51: of ${ttl} with an interval of ${interval} is refused: ${rule}`, async () => {
      const event = proxyEvent(`ttl-51-${ttl}`, 'disk', { ttl, interval });
      const answer = await api.put(`/ns/default/events/ttl-51-${ttl}/disk`, event);
      expect(answer.status).to.equal(400);
      expect(answer.text).to.include(rule);
      const agent = await ReportingAgent.connect(backend, `ttl-51-${ttl}`);
      await agent.result('disk', { ttl, interval });
      expect(await api.event(`ttl-51-${ttl}`, 'disk')).to.equal(undefined);
    });
  }

  it('case 52: raises no alert while the agent itself is missing, nor after its return until the next result', async () => {
    const agent = await ReportingAgent.connect(backend, 'ttl-52');
    await agent.keepalive({ interval: 2, timeout: 5 });
    await agent.result('disk', { ttl: 7, interval: 1 });
    await backend.clock.advance(5_000);
    expect(await checkOf('ttl-52', 'keepalive')).to.deep.include({ status: 1 });
    await unchangedFor('ttl-52', 2_000);
    expect(await switchOf('ttl-52')).to.deep.equal(['registered', 'deregistered']);
    await agent.keepalive({ timeout: 3_600 });
    await unchangedFor('ttl-52', 60_000);
    await agent.result('disk', { ttl: 7, interval: 1 });
    await unchangedFor('ttl-52', 6_999);
    await backend.clock.advance(1);
    expect(await checkOf('ttl-52')).to.deep.include({ status: 1, occurrences: 1 });
  });

  it('case 53: raises no alert after its event or its entity was deleted', async () => {
    await reporting('ttl-53a', TTL);
    await reporting('ttl-53b', TTL);
    expect((await api.delete('/ns/default/events/ttl-53a/disk')).status).to.equal(204);
    expect((await api.delete('/ns/default/entities/ttl-53b')).status).to.equal(204);
    await backend.clock.advance(60_000);
    for (const entity of ['ttl-53a', 'ttl-53b']) {
      expect(await checkOf(entity)).to.equal(undefined);
      expect(await switchOf(entity)).to.deep.equal(['registered', 'deregistered']);
    }
  });

  it('case 54: never raises alerts for a round-robin check of agents, but for one of a proxy', async () => {
    const agent = await reporting('ttl-54', { ...TTL, round_robin: true });
    await agent.result('ports', { ...TTL, round_robin: true, proxy_entity_name: 'ttl-54-sw' });
    await backend.clock.advance(5_000);
    expect(await checkOf('ttl-54')).to.deep.include({ status: 0 });
    expect(await checkOf('ttl-54-sw', 'ports')).to.deep.include({ status: 1 });
    await unchangedFor('ttl-54', 60_000);
  });

  it('case 55: of 30 days raises no alert at once', async () => {
    await reporting('ttl-55', { ttl: 2_600_000, interval: 1 });
    await unchangedFor('ttl-55', 120_000);
    expect(await switchOf('ttl-55')).to.deep.equal(['registered']);
  });

  it('raises no alert for an entity that was never registered', async () => {
    const agent = await ReportingAgent.connect(backend, 'ttl-unknown');
    await agent.result('disk', TTL);
    await unchangedFor('ttl-unknown', 60_000);
    expect(await switchOf('ttl-unknown')).to.deep.equal(['registered', 'deregistered']);
  });

  it('is armed by events of the API as well', async () => {
    expect((await api.put('/ns/default/events/ttl-api/disk', proxyEvent('ttl-api', 'disk', TTL))).status).to.equal(200);
    await unchangedFor('ttl-api', 4_999);
    await backend.clock.advance(1);
    expect(await checkOf('ttl-api')).to.deep.include({ status: 1 });
  });

  it('is ignored for a check named keepalive', async () => {
    const agent = await reporting('ttl-ka', {});
    agent.socket.send('event', checkEvent('ttl-ka', 'keepalive', TTL));
    await agent.result('disk', {});
    await backend.clock.advance(60_000);
    expect(await switchOf('ttl-ka', 'keepalive')).to.deep.equal([]);
  });
});
