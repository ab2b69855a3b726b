import { expect } from 'chai';
import type { ApiClient } from '../../support/api-client.ts';
import { perTest } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';
import { ReportingAgent } from '../../support/reporting-agent.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';

const HOUR_MS = 3_600_000;

describe('a backend whose clock is changed or whose process is paused', () => {
  const backend = perTest(() => RestartableBackend.start());
  let api: ApiClient;
  let agent: ReportingAgent;

  beforeEach(async () => {
    api = await backend.login();
    agent = await ReportingAgent.connect(backend, 'web-01', { subscriptions: ['sys'] });
    await agent.keepalive({ interval: 2, timeout: 30, ttl: 45, entity: { subscriptions: ['sys', 'entity:web-01'] } });
    await agent.result('backup', { ttl: 60, interval: 1 });
  });

  const eventOf = (check: string) => api.event('web-01', check);
  const statusOf = async (check: string) => at(await eventOf(check), 'check', 'status');
  const blindOf = async (check: string) => at(await eventOf(check), 'metadata', 'annotations', 'mon.io/blind-seconds');
  const login = async () => {
    api = await backend.login();
  };

  async function turns(check: string, status: number, afterMs: number): Promise<void> {
    const before = await statusOf(check);
    await backend.clock.advance(afterMs - 1);
    expect(await statusOf(check), 'a moment before').to.equal(before);
    await backend.clock.advance(1);
    expect(await statusOf(check)).to.equal(status);
  }

  for (const byMs of [HOUR_MS, -HOUR_MS]) {
    const direction = byMs > 0 ? 'forward' : 'back';

    it(`F15: alerts at the exact ticks when its clock goes ${direction} by an hour`, async () => {
      await backend.clock.advance(10_000);
      backend.clock.jump(byMs);
      await login();
      await turns('keepalive', 1, 20_000);
      expect(at(await eventOf('keepalive'), 'check', 'output')).to.equal(
        'No keepalive sent from web-01 for 30 seconds (>= 30)',
      );
      await turns('keepalive', 2, 15_000);
      expect(at(await eventOf('keepalive'), 'timestamp')).to.equal(backend.nowS);
      expect(await blindOf('keepalive')).to.equal(undefined);
    });

    it(`F15: expires a check TTL after exactly its ttl when the clock goes ${direction} by an hour`, async () => {
      await agent.keepalive({ interval: 2, timeout: 600 });
      await backend.clock.advance(10_000);
      backend.clock.jump(byMs);
      await login();
      await turns('backup', 1, 50_000);
      expect(at(await eventOf('backup'), 'check', 'output')).to.equal('Last check execution was 60 seconds ago');
      await turns('backup', 1, 60_000);
      expect(at(await eventOf('backup'), 'check', 'occurrences')).to.equal(2);
    });

    it(`F15: runs a check once per interval when the clock goes ${direction} by an hour`, async () => {
      const metadata = { name: 'tick', namespace: 'default' };
      await api.put('/ns/default/checks/tick', {
        metadata,
        command: 'x',
        interval: 10,
        subscriptions: ['sys'],
        publish: true,
      });
      await backend.clock.advance(20_000);
      backend.clock.jump(byMs);
      await backend.clock.advance(60_000);
      await agent.socket.ping('all sent');
      const requests = agent.socket.waitingFrames.filter(({ type }) => type === 'check_request');
      expect(requests.length).to.be.within(7, 8);
    });

    it(`F15: keeps its deadlines after a restart when the clock went ${direction} before it`, async () => {
      await agent.keepalive({ interval: 2, timeout: 600 });
      await backend.clock.advance(10_000);
      backend.clock.jump(byMs);
      await backend.clock.advance(10_000);
      await backend.downFor(1_000);
      await login();
      await turns('backup', 1, 60_000);
    });
  }

  it('F16: raises no alert for silence during the pause, and reports the pause in the first alert', async () => {
    await backend.clock.advance(20_000);
    await backend.clock.stall(300_000);
    await login();
    expect([await statusOf('keepalive'), await statusOf('backup')]).to.deep.equal([0, 0]);
    await agent.keepalive({ interval: 2, timeout: 600 });
    await turns('backup', 1, 60_000);
    expect(await blindOf('backup')).to.equal('300');
    const stopped = (await api.ledger({ actor: 'backend' })).at(-1);
    expect(stopped).to.deep.include({ event: 'process.resumed', from: 'blind', to: 'watching' });
    expect(at(stopped, 'details', 'blindMs')).to.be.within(300_000, 305_000);
  });

  it('F16: keeps its agents connected, because it did not read during the pause', async () => {
    await backend.clock.stall(300_000);
    await agent.socket.ping('still there');
    expect(agent.socket.isOpen).to.equal(true);
    const states = (await api.ledger({ actor: 'connection' })).map(({ to }) => to);
    expect(states).to.deep.equal(['registered']);
  });

  it('F16: behaves the same when its machine was suspended', async () => {
    await backend.clock.advance(20_000);
    backend.clock.suspend(300_000);
    await backend.clock.advance(5_000);
    await login();
    await agent.keepalive({ interval: 2, timeout: 600 });
    await turns('backup', 1, 60_000);
    expect(await blindOf('backup')).to.equal('305');
  });
});
