import { expect } from 'chai';
import { perTest } from '../support/fixture.ts';
import { at } from '../support/json-path.ts';
import { ReportingAgent } from '../support/reporting-agent.ts';
import { RestartableBackend } from '../support/restartable-backend.ts';

const NAME = 'web-01';
const WARNING_S = 5;
const HOUR_S = 3_600;

describe('F7: a keepalive from before a disconnection that arrives on the next connection', () => {
  const backend = perTest(() => RestartableBackend.start());
  const api = perTest(() => backend.login());

  const lastSeen = async () => [
    at(await api.entity(NAME), 'last_seen'),
    at(await api.event(NAME, 'keepalive'), 'entity', 'last_seen'),
  ];
  const statusOf = async () => at(await api.event(NAME, 'keepalive'), 'check', 'status');
  const platformVersion = async () => at(await api.entity(NAME), 'system', 'platform_version');

  const sendKeepalive = (agent: ReportingAgent, timestamp: number, version = '2'): Promise<void> =>
    agent.keepalive({
      interval: 2,
      timeout: WARNING_S,
      timestamp,
      entity: { system: { hostname: NAME, platform_version: version } },
    });

  async function connectAndReport(): Promise<ReportingAgent> {
    const agent = await ReportingAgent.connect(backend, NAME);
    await sendKeepalive(agent, backend.nowS);
    return agent;
  }

  async function reconnectAfter(agent: ReportingAgent, ms: number): Promise<ReportingAgent> {
    await agent.vanish();
    await backend.clock.advance(ms);
    return ReportingAgent.connect(backend, NAME);
  }

  it('moves neither last_seen nor the system information back', async () => {
    const agent = await connectAndReport();
    const seenS = backend.nowS;
    const reconnected = await reconnectAfter(agent, 1_000);
    for (const age of [1, WARNING_S, WARNING_S + 1, HOUR_S]) {
      await sendKeepalive(reconnected, seenS - age, age > WARNING_S ? '1' : '2');
      expect(await lastSeen(), `${age} s older`).to.deep.equal([seenS, seenS]);
      expect(await platformVersion()).to.equal('2');
    }
    expect(await statusOf()).to.equal(0);
  });

  it('resolves nothing if it is older than the last one by more than the timeout, and is counted as rejected', async () => {
    const agent = await connectAndReport();
    const seenS = backend.nowS;
    const reconnected = await reconnectAfter(agent, 30_000);
    const before = await api.event(NAME, 'keepalive');
    await sendKeepalive(reconnected, seenS - WARNING_S - 1);
    expect(await api.event(NAME, 'keepalive')).to.deep.equal(before);
    expect(await statusOf()).to.equal(1);
    const states = (await api.ledger({ actor: 'entity', key: `default/${NAME}` })).map(({ to }) => to);
    expect(states).to.deep.equal(['registered', 'warning']);
    const { json } = await api.get('/api/mon/v1/sessions');
    expect(at(json, 0, 'refused')).to.equal(1);
    expect(at(json, 0, 'last_refusal', 'reason')).to.equal(
      'keepalive is older than the last one by more than its timeout',
    );

    await sendKeepalive(reconnected, backend.nowS);
    expect(await statusOf()).to.equal(0);
    expect(await lastSeen()).to.deep.equal([backend.nowS, backend.nowS]);
  });

  it('resolves the alert if it is older by at most the timeout', async () => {
    const agent = await connectAndReport();
    const seenS = backend.nowS;
    const reconnected = await reconnectAfter(agent, 30_000);
    await sendKeepalive(reconnected, seenS - WARNING_S);
    expect(await statusOf()).to.equal(0);
    expect(await lastSeen()).to.deep.equal([seenS, seenS]);
  });

  it('differs from one of an agent whose clock was set back, which resolves the alert one timeout after the connection', async () => {
    const agent = await connectAndReport();
    const seenS = backend.nowS;
    const reconnected = await reconnectAfter(agent, 30_000);
    await backend.clock.advance(WARNING_S * 1_000 - 1);
    await sendKeepalive(reconnected, backend.nowS - HOUR_S);
    expect(await statusOf()).to.equal(1);
    await backend.clock.advance(1);
    await sendKeepalive(reconnected, backend.nowS - HOUR_S);
    expect(await statusOf()).to.equal(0);
    expect(await lastSeen()).to.deep.equal([seenS, seenS]);
  });

  it('differs from one of an agent whose clock was far ahead and is correct again, which resolves the alert at once', async () => {
    const agent = await ReportingAgent.connect(backend, NAME);
    await sendKeepalive(agent, backend.nowS + HOUR_S);
    const aheadS = backend.nowS + HOUR_S;
    const reconnected = await reconnectAfter(agent, 30_000);
    await sendKeepalive(reconnected, backend.nowS);
    expect(await statusOf()).to.equal(0);
    expect(await lastSeen()).to.deep.equal([aheadS, aheadS]);
  });
});
