import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { LedgerEntry } from '../../src/store/ledger/ledger.ts';
import type { AgentProcess } from '../agent/agent-process.ts';
import type { ApiClient } from '../support/api-client.ts';
import { BackendProcess } from '../support/backend-process.ts';
import { eventually } from '../support/eventually.ts';
import { at } from '../support/json-path.ts';
import { ObservedProcess } from './observed-process.ts';
import { startRealAgent } from './real-agents.ts';
import { SilentProxy } from './silent-proxy.ts';

const KEEPALIVES = { intervalS: 2, warningS: 5, criticalS: 0 };
const NOTICED_BY_AGENT_MS = 45_000;
const WARNING_MS = 45_000;
const CRITICAL_MS = 60_000;
const FREED_MS = 75_000;
/** The agents are silent for this long before the test begins, which is longer than any timer is late. */
const QUIET_MS = 500;
const CUT_OFF = 'cut-off';
const STOPPED = 'stopped';

describe('F9: agents that vanish without closing their connection', () => {
  let backend: BackendProcess;
  let api: ApiClient;
  let proxy: SilentProxy;
  let observed: ObservedProcess;
  const agents = new Map<string, AgentProcess>();
  let descriptorsBefore = 0;
  let silentAtMs = 0;

  before(async () => {
    backend = await BackendProcess.start();
    observed = new ObservedProcess(backend.pid);
    api = await backend.login();
    proxy = await SilentProxy.to(backend.agentPort);
    descriptorsBefore = observed.descriptors;
    agents.set(CUT_OFF, startRealAgent(CUT_OFF, proxy.port, KEEPALIVES));
    agents.set(STOPPED, startRealAgent(STOPPED, backend.agentPort, KEEPALIVES));
    for (const name of agents.keys()) {
      await eventually(() => api.event(name, 'keepalive'), Boolean, { what: name, withinMs: 30_000, everyMs: 50 });
    }
    expect(observed.descriptors).to.equal(descriptorsBefore + agents.size);
    const isQuiet = async () => (await sessions()).every((session) => Number(at(session, 'silent_ms')) >= QUIET_MS);
    await eventually(isQuiet, Boolean, { what: 'a pause between keepalives', withinMs: 30_000, everyMs: 20 });
    silentAtMs = Date.now();
    proxy.fallSilent();
    new ObservedProcess(agents.get(STOPPED)?.child.pid ?? 0).stop();
  });

  after(async () => {
    for (const agent of agents.values()) await agent.kill();
    await proxy.close();
    await backend.stop();
  });

  const sessions = async (): Promise<unknown[]> => (await api.get('/api/mon/v1/sessions')).json as unknown[];

  /** Waits for `count` ledger entries of the agent's connection and returns them. */
  async function connectionOf(name: string, count: number, byMs: number): Promise<LedgerEntry[]> {
    const entries = async () => {
      const all = await api.ledger({ actor: 'connection' });
      const opened = all.find(({ details }) => at(details, 'agentName') === name);
      return all.filter(({ key }) => key === opened?.key);
    };
    const wait = { what: `state ${count} of ${name}`, withinMs: silentAtMs + byMs - Date.now(), everyMs: 200 };
    return eventually(entries, ({ length }) => length >= count, wait);
  }

  it('notice the lost connection themselves within 45 s', async () => {
    const noticed = () => agents.get(CUT_OFF)?.log.some(({ msg }) => msg === 'backend does not answer pings');
    const withinMs = silentAtMs + NOTICED_BY_AGENT_MS - Date.now();
    await eventually(noticed, Boolean, { what: 'the agent to notice', withinMs, everyMs: 20 });
  });

  for (const name of [CUT_OFF, STOPPED]) {
    it(`enter warning at 45 s and critical at 60 s, and are freed by 75 s: ${name}`, async () => {
      const [registered, warning, critical, freed] = await connectionOf(name, 4, FREED_MS);
      const states = [registered, warning, critical, freed].map((entry) => entry?.to);
      expect(states).to.deep.equal(['registered', 'warning', 'critical', 'deregistered']);
      // The last frame was a keepalive.
      const lastFrameMs = silentAtMs - KEEPALIVES.intervalS * 1_000;
      expect(warning?.atMs).to.be.within(lastFrameMs + WARNING_MS, silentAtMs + WARNING_MS);
      expect(critical?.atMs).to.be.within(lastFrameMs + CRITICAL_MS, silentAtMs + CRITICAL_MS);
      expect(freed?.atMs).to.be.at.most(silentAtMs + FREED_MS);
    });
  }

  it('leave no open descriptor and no connection in CLOSE_WAIT', async () => {
    await delay(silentAtMs + FREED_MS - Date.now());
    expect(observed.descriptors).to.equal(descriptorsBefore);
    expect(observed.closeWaits(backend.agentPort)).to.equal(0);
  });

  it('reconnect when they run again', async () => {
    new ObservedProcess(agents.get(STOPPED)?.child.pid ?? 0).resume();
    const isConnected = async () => (await sessions()).some((session) => at(session, 'agent') === STOPPED);
    await eventually(isConnected, Boolean, { what: 'the agent that was stopped', withinMs: 20_000, everyMs: 100 });
  });
});
