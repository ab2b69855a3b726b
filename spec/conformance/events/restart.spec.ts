import { expect } from 'chai';
import { verify } from '../../../src/store/ledger/ledger-verification.ts';
import type { ApiClient } from '../../support/api-client.ts';
import { perTest } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';
import { ReportingAgent } from '../../support/reporting-agent.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';

const BLIND = 'mon.io/blind-seconds';

describe('a backend after a downtime', () => {
  afterEach(() => {
    expect(verify(backend.store.ledgerEntries())).to.have.property('ok', true);
  });

  const backend = perTest(() => RestartableBackend.start());
  let api: ApiClient;

  const eventOf = (check = 'keepalive') => api.event('web-01', check);
  const statusOf = async (check = 'keepalive') => at(await eventOf(check), 'check', 'status');
  const blindOf = async (check = 'keepalive') => at(await eventOf(check), 'metadata', 'annotations', BLIND);

  async function alive(timeouts: { timeout: number; ttl?: number }): Promise<ReportingAgent> {
    const agent = await ReportingAgent.connect(backend, 'web-01');
    await agent.keepalive({ interval: 2, ...timeouts });
    return agent;
  }

  async function downFor(ms: number): Promise<void> {
    await backend.downFor(ms);
    api = await backend.login();
  }

  /** Asserts that an alert is raised at this time, and none one millisecond before. */
  async function alertsAfter(ms: number, check = 'keepalive'): Promise<void> {
    const before = await eventOf(check);
    await backend.clock.advance(ms - 1);
    expect(await eventOf(check)).to.deep.equal(before);
    await backend.clock.advance(1);
    expect(await eventOf(check)).to.not.deep.equal(before);
    expect(await statusOf(check)).to.equal(1);
  }

  it('case 33: raises no alert for an agent that is back within W', async () => {
    await alive({ timeout: 5 });
    await backend.clock.advance(3_000);
    await downFor(60_000);
    await backend.clock.advance(4_999);
    expect(await statusOf()).to.equal(0);
    const agent = await alive({ timeout: 5 });
    await backend.clock.advance(4_999);
    await agent.keepalive({ interval: 2, timeout: 5 });
    expect(at(await eventOf(), 'check')).to.deep.include({ status: 0, occurrences: 3 });
    expect(await api.ledger({ actor: 'entity', key: 'default/web-01' })).to.have.lengthOf(1);
  });

  it('case 33: repeats the alert for an agent that was missing before, W after the restart', async () => {
    await alive({ timeout: 5 });
    await backend.clock.advance(50_000);
    await downFor(60_000);
    expect(at(await eventOf(), 'check')).to.deep.include({ status: 1, occurrences: 10 });
    await alertsAfter(5_000);
    expect(at(await eventOf(), 'check')).to.deep.include({ occurrences: 11 });
    expect(await blindOf()).to.equal('60');
    await alertsAfter(5_000);
    expect(at(await eventOf(), 'check')).to.deep.include({ occurrences: 12 });
    expect(await blindOf()).to.equal(undefined);
    const states = (await api.ledger({ actor: 'entity', key: 'default/web-01' })).map(({ to }) => to);
    expect(states).to.deep.equal(['registered', 'warning']);
  });

  it('does not change a critical alert back to a warning', async () => {
    await alive({ timeout: 5, ttl: 8 });
    await backend.clock.advance(10_000);
    await downFor(60_000);
    await backend.clock.advance(5_000);
    expect(at(await eventOf(), 'check')).to.deep.include({ status: 2, occurrences: 3 });
    const states = (await api.ledger({ actor: 'entity', key: 'default/web-01' })).map(({ to }) => to);
    expect(states).to.deep.equal(['registered', 'warning', 'critical']);
  });

  it('repeats the expiry of a ttl one ttl after the restart', async () => {
    const agent = await alive({ timeout: 3_600 });
    await agent.result('disk', { ttl: 5, interval: 1 });
    await backend.clock.advance(50_000);
    await downFor(60_000);
    await alertsAfter(5_000, 'disk');
    expect(at(await eventOf('disk'), 'check', 'occurrences')).to.equal(11);
    expect(await blindOf('disk')).to.equal('60');
  });

  it('raises one alert W after the restart, which names the blind time', async () => {
    await alive({ timeout: 5, ttl: 8 });
    await downFor(60_000);
    await alertsAfter(5_000);
    expect(await blindOf()).to.equal('60');
    expect(at(await eventOf(), 'check', 'output')).to.equal('No keepalive sent from web-01 for 65 seconds (>= 5)');
    const [, warning] = await api.ledger({ actor: 'entity', key: 'default/web-01' });
    expect(warning?.details).to.deep.equal({ blindMs: 60_000 });
    expect(at(warning, 'guards', 3, 'inputs')).to.deep.equal({ elapsedMs: 5_000, criticalMs: 8_000 });
    await backend.clock.advance(3_000);
    expect(await statusOf()).to.equal(2);
    expect(await blindOf()).to.equal(undefined);
  });

  it('names its blind time, not the time since the last keepalive', async () => {
    await alive({ timeout: 120 });
    await backend.clock.advance(100_000);
    await downFor(10_000);
    await alertsAfter(120_000);
    expect(await blindOf()).to.equal('10');
    const [, warning] = await api.ledger({ actor: 'entity', key: 'default/web-01' });
    expect(warning?.details).to.deep.equal({ blindMs: 10_000 });
  });

  it('expires a ttl once, one ttl after the restart', async () => {
    const agent = await alive({ timeout: 3_600 });
    await agent.result('disk', { ttl: 5, interval: 1 });
    await downFor(60_000);
    await alertsAfter(5_000, 'disk');
    expect(await blindOf('disk')).to.equal('60');
    expect(at(await eventOf('disk'), 'check')).to.deep.include({
      occurrences: 1,
      output: 'Last check execution was 65 seconds ago',
    });
    const entries = await api.ledger({ actor: 'check-ttl', key: 'default/web-01/disk' });
    expect(entries.map(({ to, details }) => [to, details])).to.deep.equal([
      ['registered', undefined],
      ['warning', { blindMs: 60_000 }],
    ]);
    await backend.clock.advance(5_000);
    expect(at(await eventOf('disk'), 'check', 'occurrences')).to.equal(2);
    expect(await blindOf('disk')).to.equal(undefined);
  });

  it('grants no grace for keepalives after the restart', async () => {
    await alive({ timeout: 5 });
    await downFor(60_000);
    await alive({ timeout: 5 });
    await alertsAfter(5_000);
    expect(await blindOf()).to.equal(undefined);
    expect(at(await eventOf(), 'check', 'output')).to.equal('No keepalive sent from web-01 for 5 seconds (>= 5)');
  });

  it('counts from the end of the first downtime, however often it crashes', async () => {
    await alive({ timeout: 5 });
    for (let crash = 0; crash < 3; crash += 1) {
      await downFor(1_000);
      await backend.clock.advance(1_000);
    }
    // Back for the first time one second after the keepalive: due at 6 s, and 6 s have passed.
    expect(await statusOf()).to.equal(1);
    const [, warning] = await api.ledger({ actor: 'entity', key: 'default/web-01' });
    expect(warning?.atMs).to.equal(backend.clock.nowMs());
    expect(at(await eventOf(), 'check')).to.deep.include({ occurrences: 1 });
  });

  it('raises an alert at once when the grace of the first downtime passed during the second', async () => {
    const agent = await alive({ timeout: 5 });
    await agent.result('disk', { ttl: 5, interval: 1 });
    await downFor(60_000);
    await backend.clock.advance(2_000);
    await downFor(60_000);
    await backend.clock.advance(0);
    expect(await statusOf()).to.equal(1);
    expect(at(await eventOf(), 'check')).to.deep.include({ occurrences: 1 });
  });

  it('records the end of the sessions that were open', async () => {
    await alive({ timeout: 5 });
    await downFor(1_000);
    const sessions = await api.ledger({ actor: 'connection' });
    expect(sessions.at(-1)).to.include({ to: 'deregistered' });
  });
});
