import { hostname } from 'node:os';
import { expect } from 'chai';
import type { LedgerEntry } from '../../../src/store/ledger/ledger.ts';
import { perTest } from '../../support/fixture.ts';
import { ReportingAgent } from '../../support/reporting-agent.ts';
import { RestartableBackend, START_MS } from '../../support/restartable-backend.ts';
import { failingMachines, Sabotage } from '../inspection/failing-machines.ts';
import { readLedger } from '../../support/read-ledger.ts';

const NAME = 'web';
const KEY = `default/${NAME}`;
const EVENT_ID = '6a1b2c3d-0000-4000-8000-000000000001';
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

describe('the cause in the ledger', () => {
  const sabotage = new Sabotage();
  const backend = perTest(() =>
    RestartableBackend.start({
      machines: failingMachines(sabotage),
      configure: (config) => ({ ...config, ledgerAnchorHandler: 'archive' }),
    }),
  );

  const entries = (query: { actor?: string; key?: string } = {}): LedgerEntry[] =>
    readLedger(backend.store, { ...query });
  const causesOf = (actor: string, event: string) =>
    entries({ actor })
      .filter((entry) => entry.event === event)
      .map(({ cause }) => cause);

  it('of a failed actor is the event that it failed on', async () => {
    const agent = await ReportingAgent.connect(backend, NAME);
    await agent.result('disk', { ttl: 600, interval: 1 });
    // A result without a TTL disarms the check TTL, which its actor decides.
    sabotage.arm(`${KEY}/disk`, 'guard', 1);
    await agent.result('disk', { ttl: 0, interval: 1 }, { id: EVENT_ID });
    expect(causesOf('check-ttl', 'actor.failed')).to.deep.equal([{ eventId: EVENT_ID }]);
  });

  it('of a failed actor is the deadline that it failed on', async () => {
    const agent = await ReportingAgent.connect(backend, NAME);
    await agent.keepalive({ interval: 2, timeout: 5 });
    sabotage.arm(KEY, 'action', 1);
    await backend.clock.advance(5_000);
    expect(causesOf('entity', 'actor.failed')).to.deep.equal([{ deadlineAtMs: START_MS + 5_000 }]);
  });

  describe('of a quarantine', () => {
    async function quarantined(): Promise<void> {
      const agent = await ReportingAgent.connect(backend, NAME);
      await agent.result('disk', { ttl: 600, interval: 1 });
      sabotage.arm(`${KEY}/disk`, 'guard', 5);
      for (let n = 0; n < 5; n += 1) await agent.result('disk', { ttl: 0, interval: 1 }, { id: EVENT_ID });
    }

    it('is the event of the last failure, and its end has the deadline', async () => {
      await quarantined();
      await backend.clock.advance(MINUTE_MS);
      expect(causesOf('quarantine', 'actor.failed')).to.deep.equal([{ eventId: EVENT_ID }]);
      expect(causesOf('quarantine', 'released')).to.deep.equal([{ deadlineAtMs: START_MS + MINUTE_MS }]);
    });

    it('is the user when a user ends it', async () => {
      await quarantined();
      const api = await backend.login();
      await api.post(`/api/mon/v1/actors/check-ttl/${encodeURIComponent(`${KEY}/disk`)}/wake`, undefined);
      expect(causesOf('quarantine', 'released')).to.deep.equal([{ user: 'admin' }]);
    });
  });

  it('is a restore at the start of the backend only', async () => {
    const agent = await ReportingAgent.connect(backend, NAME);
    await agent.keepalive({ interval: 2, timeout: 5 });
    backend.clock.suspend(30_000);
    await backend.clock.advance(10_000);
    await backend.halt();
    await backend.clock.advance(1_000);
    await backend.resume();
    await backend.clock.advance(10_000);
    const restored = entries().filter(({ cause }) => 'restore' in cause);
    const starts = entries()
      .filter(({ event, cause }) => event === 'process.started' || ('restore' in cause && event === 'entity.created'))
      .map(({ atMs }) => atMs);
    expect(new Set(restored.map(({ atMs }) => atMs))).to.deep.equal(new Set(starts));
    expect(causesOf('backend', 'process.resumed')).to.deep.equal([{ backend: 'process.resumed' }]);
  });

  it('of what an anchor creates is the anchor', async () => {
    const api = await backend.login();
    await api.delete(`/ns/mon-system/entities/${hostname()}`);
    await backend.clock.advance(HOUR_MS);
    const created = entries({ actor: 'entities', key: `mon-system/${hostname()}` }).at(-1);
    expect(created).to.deep.include({ event: 'resource.created', cause: { backend: 'anchor.due' } });
  });
});

describe('the details in the ledger', () => {
  const backend = perTest(() => RestartableBackend.start());

  it('are those of one transition and not of the next one in the same decision', async () => {
    const agent = await ReportingAgent.connect(backend, NAME);
    await agent.keepalive({ interval: 2, timeout: 5, entity: { deregister: true } });
    await agent.result('disk', { ttl: 3_600, interval: 1 });
    await backend.clock.advance(1_000);
    await backend.halt();
    await backend.clock.advance(10_000);
    await backend.resume();
    await backend.clock.advance(10_000);
    const ended = readLedger(backend.store, { actor: 'entity', key: KEY, limit: 9 }).at(-1);
    expect(ended?.details).to.deep.equal({ blindMs: 10_000 });
    const ofCheck = readLedger(backend.store, { actor: 'check-ttl', key: `${KEY}/disk`, limit: 9 }).at(-1);
    expect(ofCheck).to.deep.include({ event: 'entity.deleted', atMs: ended?.atMs });
    expect(ofCheck?.details).to.equal(undefined);
  });

  it('of an alert about something missing are its last receipt, its limit and the blind time', async () => {
    const agent = await ReportingAgent.connect(backend, NAME);
    await agent.result('disk', { ttl: 60, interval: 1 });
    await agent.keepalive({ interval: 2, timeout: 300 });
    await backend.clock.advance(20_000);
    await backend.downFor(10_000);
    await backend.clock.advance(600_000);
    const overdueOf = (check: string) =>
      readLedger(backend.store, { actor: 'check-state', key: `${KEY}/${check}` }).at(-1)?.details?.['overdue'];
    expect(overdueOf('disk')).to.deep.equal({ sinceMs: START_MS, limitMs: 60_000, blindMs: 10_000 });
    expect(overdueOf('keepalive')).to.deep.equal({ sinceMs: START_MS, limitMs: 300_000, blindMs: 10_000 });
  });

  it('of an agent name each of its sessions', async () => {
    for (let n = 0; n < 2; n += 1) await (await ReportingAgent.connect(backend, NAME)).result('disk');
    const entries = readLedger(backend.store, { actor: 'agent-session', key: KEY });
    expect(entries.map(({ event }) => event)).to.deep.equal(['session.opened', 'session.opened']);
    const sessions = entries.map(({ details }) => String(details?.['session']));
    expect(new Set(sessions).size).to.equal(2);
    for (const key of sessions) {
      expect(readLedger(backend.store, { actor: 'connection', key })[0]).to.include({ event: 'socket.opened' });
    }
  });
});
