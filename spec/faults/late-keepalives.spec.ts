import { expect } from 'chai';
import type { ApiClient } from '../support/api-client.ts';
import { at } from '../support/json-path.ts';
import { ReportingAgent } from '../support/reporting-agent.ts';
import { RestartableBackend } from '../support/restartable-backend.ts';

const NAME = 'web-01';
const WARNING_S = 5;
const HOUR_S = 3_600;

describe('F7: a keepalive that was generated before its agent was cut off, and comes with the next connection', () => {
  let backend: RestartableBackend;
  let api: ApiClient;

  beforeEach(async () => {
    backend = await RestartableBackend.start();
    api = await backend.login();
  });

  afterEach(() => backend.stop());

  const lastSeen = async () => [
    at(await api.entity(NAME), 'last_seen'),
    at(await api.event(NAME, 'keepalive'), 'entity', 'last_seen'),
  ];
  const statusOf = async () => at(await api.event(NAME, 'keepalive'), 'check', 'status');
  const kernel = async () => at(await api.entity(NAME), 'system', 'platform_version');

  const say = (agent: ReportingAgent, timestamp: number, version = '2'): Promise<void> =>
    agent.keepalive({
      interval: 2,
      timeout: WARNING_S,
      timestamp,
      entity: { system: { hostname: NAME, platform_version: version } },
    });

  async function seenNow(): Promise<ReportingAgent> {
    const agent = await ReportingAgent.connect(backend, NAME);
    await say(agent, backend.nowS);
    return agent;
  }

  async function cutOffFor(agent: ReportingAgent, ms: number): Promise<ReportingAgent> {
    await agent.vanish();
    await backend.clock.advance(ms);
    return ReportingAgent.connect(backend, NAME);
  }

  it('does not move last_seen back, nor what is known of the machine', async () => {
    const agent = await seenNow();
    const seenS = backend.nowS;
    const back = await cutOffFor(agent, 1_000);
    for (const age of [1, WARNING_S, WARNING_S + 1, HOUR_S]) {
      await say(back, seenS - age, age > WARNING_S ? '1' : '2');
      expect(await lastSeen(), `${age} s older`).to.deep.equal([seenS, seenS]);
      expect(await kernel()).to.equal('2');
    }
    expect(await statusOf()).to.equal(0);
  });

  it('resolves nothing when it is older than the last one by more than the timeout, and is counted as refused', async () => {
    const agent = await seenNow();
    const seenS = backend.nowS;
    const back = await cutOffFor(agent, 30_000);
    const before = await api.event(NAME, 'keepalive');
    await say(back, seenS - WARNING_S - 1);
    expect(await api.event(NAME, 'keepalive')).to.deep.equal(before);
    expect(await statusOf()).to.equal(1);
    const states = (await api.ledger({ actor: 'entity', key: `default/${NAME}` })).map(({ to }) => to);
    expect(states).to.deep.equal(['registered', 'warning']);
    const { json } = await api.get('/api/mon/v1/sessions');
    expect(at(json, 0, 'refused')).to.equal(1);
    expect(at(json, 0, 'last_refusal', 'reason')).to.equal(
      'keepalive is older than the last one by more than its timeout',
    );

    await say(back, backend.nowS);
    expect(await statusOf()).to.equal(0);
    expect(await lastSeen()).to.deep.equal([backend.nowS, backend.nowS]);
  });

  it('resolves when it is older by no more than that', async () => {
    const agent = await seenNow();
    const seenS = backend.nowS;
    const back = await cutOffFor(agent, 30_000);
    await say(back, seenS - WARNING_S);
    expect(await statusOf()).to.equal(0);
    expect(await lastSeen()).to.deep.equal([seenS, seenS]);
  });

  it('is told apart from one of an agent whose clock was set back, which resolves the timeout after it connected', async () => {
    const agent = await seenNow();
    const seenS = backend.nowS;
    const back = await cutOffFor(agent, 30_000);
    await backend.clock.advance(WARNING_S * 1_000 - 1);
    await say(back, backend.nowS - HOUR_S);
    expect(await statusOf()).to.equal(1);
    await backend.clock.advance(1);
    await say(back, backend.nowS - HOUR_S);
    expect(await statusOf()).to.equal(0);
    expect(await lastSeen()).to.deep.equal([seenS, seenS]);
  });

  it('is told apart from one of an agent whose clock was far ahead and is right again, which resolves at once', async () => {
    const agent = await ReportingAgent.connect(backend, NAME);
    await say(agent, backend.nowS + HOUR_S);
    const aheadS = backend.nowS + HOUR_S;
    const back = await cutOffFor(agent, 30_000);
    await say(back, backend.nowS);
    expect(await statusOf()).to.equal(0);
    expect(await lastSeen()).to.deep.equal([aheadS, aheadS]);
  });
});
