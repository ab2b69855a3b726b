import { expect } from 'chai';
import { verify } from '../../../src/store/ledger/ledger-verification.ts';
import type { ApiClient } from '../../support/api-client.ts';
import { at } from '../../support/json-path.ts';
import { ReportingAgent } from '../../support/reporting-agent.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';

const MINUTE_MS = 60_000;

/** The result of a short life of two agents: their events, and every transition with its time and its guards. */
async function livedThrough(maxAwakeActors: number | undefined): Promise<unknown> {
  const backend = await RestartableBackend.start({
    configure: (config) => ({ ...config, ...(maxAwakeActors === undefined ? {} : { maxAwakeActors }) }),
  });
  try {
    const api = await backend.login();
    const agents = await Promise.all(['web-01', 'web-02'].map((name) => ReportingAgent.connect(backend, name)));
    for (const agent of agents) await agent.keepalive({ interval: 5, timeout: 30, ttl: 60 });
    for (let round = 0; round < 4; round += 1) {
      for (const agent of agents) {
        await agent.result('disk', { ttl: 10, interval: 5, status: round % 2 });
        await agent.result('load', { ttl: 20, interval: 5 });
      }
      await backend.clock.advance(4_000);
    }
    await backend.clock.advance(2 * MINUTE_MS);
    for (const agent of agents) await agent.keepalive({ interval: 5, timeout: 30, ttl: 60 });
    expect(verify(backend.store.ledgerEntries())).to.have.property('ok', true);
    return await recordOf(api);
  } finally {
    await backend.stop();
  }
}

/** The result without random ids. */
async function recordOf(api: ApiClient): Promise<unknown> {
  const { json } = await api.get('/ns/default/events');
  const events = (json as unknown[]).map((event) => at(event, 'check'));
  const transitions = [];
  for (const actor of ['entity', 'check-ttl', 'check-state', 'connection']) {
    for (const { atMs, key, from, event, to, guards } of await api.ledger({ actor })) {
      transitions.push({ actor, key: actor === 'connection' ? '' : key, atMs, from, event, to, guards });
    }
  }
  return { events, transitions: transitions.map((entry) => JSON.stringify(entry)).toSorted() };
}

describe('an evicted actor', () => {
  it('behaves like an active one: events and ledger are the same', async () => {
    const awake = await livedThrough(undefined);
    expect(await livedThrough(1)).to.deep.equal(awake);
    expect(at(awake, 'transitions', 'length')).to.be.above(20);
  });

  it('wakes for its deadline, long after its eviction', async () => {
    const backend = await RestartableBackend.start();
    try {
      const api = await backend.login();
      const agent = await ReportingAgent.connect(backend, 'web-01');
      await agent.keepalive({ interval: 20, timeout: 1_200 });
      await agent.result('nightly', { ttl: 900, interval: 600 });
      await backend.clock.advance(15 * MINUTE_MS - 1);
      expect(at(await api.event('web-01', 'nightly'), 'check', 'status')).to.equal(0);
      await backend.clock.advance(1);
      const after = await backend.login();
      expect(at(await after.event('web-01', 'nightly'), 'check', 'status')).to.equal(1);
      await backend.clock.advance(5 * MINUTE_MS);
      expect(at(await after.event('web-01', 'keepalive'), 'check', 'status')).to.equal(1);
    } finally {
      await backend.stop();
    }
  });
});
