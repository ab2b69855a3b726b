import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { AgentClient } from '../support/agent-client.ts';
import type { ApiClient } from '../support/api-client.ts';
import { BackendProcess } from '../support/backend-process.ts';
import { eventually } from '../support/eventually.ts';
import { checkEvent, keepalive } from '../support/example-events.ts';
import { at } from '../support/json-path.ts';
import { ObservedProcess } from './observed-process.ts';

const STOPPED_MS = 20_000;
const WARNING_S = 5;
const TTL_S = 8;
const REPORTS_EVERY_MS = 1_000;
const LATE_MS = 1_000;
const NAMES = ['web-01', 'web-02', 'web-03', 'web-04'];
const ONCE = 'reported-once';

describe('F16: a backend process that is stopped for 20 s (clock-faults.spec.ts simulates five minutes)', () => {
  let backend: BackendProcess;
  let api: ApiClient;
  let reporting: NodeJS.Timeout;
  let agents: AgentClient[];

  beforeEach(async () => {
    backend = await BackendProcess.start();
    api = await backend.login();
    agents = await Promise.all(NAMES.map((name) => backend.connect({ name })));
    report();
    reporting = setInterval(report, REPORTS_EVERY_MS);
  });

  afterEach(async () => {
    clearInterval(reporting);
    await backend.stop();
  });

  /** Sends a keepalive and a result of every agent, also while the backend is stopped. */
  function report(): void {
    for (const [index, agent] of agents.entries()) {
      const name = NAMES[index] ?? '';
      agent.send('keepalive', keepalive(name, { interval: 2, timeout: WARNING_S }));
      agent.send('event', checkEvent(name, 'steady', { ttl: TTL_S, interval: 1 }));
    }
  }

  const alerts = async () =>
    [...(await api.ledger({ actor: 'entity' })), ...(await api.ledger({ actor: 'check-ttl' }))].filter(
      ({ event }) => event === 'deadline.reached',
    );

  it('raises no false alert and no early TTL alert, keeps its agents, and records its blind time', async () => {
    const [agent] = agents;
    agent?.send('event', checkEvent('web-01', ONCE, { ttl: TTL_S, interval: 1 }));
    await eventually(() => api.event('web-01', ONCE), Boolean, { what: 'the result' });
    const process = new ObservedProcess(backend.pid);
    process.stop();
    await delay(STOPPED_MS);
    const resumedMs = Date.now();
    process.resume();

    await delay(TTL_S * 1_000 - LATE_MS);
    expect(await alerts()).to.deep.equal([]);
    const wait = { what: 'the TTL alert of the check without results', withinMs: 2 * LATE_MS + 1_000, everyMs: 50 };
    const [fired, ...others] = await eventually(alerts, ({ length }) => length > 0, wait);
    expect(fired).to.include({ actor: 'check-ttl', key: `default/web-01/${ONCE}`, to: 'warning' });
    expect(fired?.atMs).to.be.within(resumedMs + TTL_S * 1_000, resumedMs + TTL_S * 1_000 + LATE_MS);
    expect(at(fired?.details, 'blindMs')).to.be.within(STOPPED_MS - 100, STOPPED_MS + 5_000 + LATE_MS);
    expect(others).to.deep.equal([]);

    await delay(WARNING_S * 1_000);
    expect(await alerts()).to.deep.equal([fired]);
    for (const connected of agents) expect(connected.isOpen).to.equal(true);
    const resumed = (await api.ledger({ actor: 'backend' })).filter(({ event }) => event === 'process.resumed');
    expect(resumed).to.have.lengthOf(1);
  });
});
