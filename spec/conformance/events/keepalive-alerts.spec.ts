import { expect } from 'chai';
import { verify } from '../../../src/store/ledger/ledger-verification.ts';
import { perSuite } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';
import { ReportingAgent } from '../../support/reporting-agent.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';

describe('an agent that falls silent', () => {
  const backend = perSuite(() => RestartableBackend.start());
  const api = perSuite(() => backend.login());

  const checkOf = async (name: string) => at(await api.event(name, 'keepalive'), 'check');
  const statusOf = async (name: string) => at(await checkOf(name), 'status');

  /** An agent that has just sent a keepalive. */
  async function silent(name: string, timeouts: { timeout: number; ttl?: number }): Promise<ReportingAgent> {
    const agent = await ReportingAgent.connect(backend, name);
    await agent.keepalive({ interval: 2, ...timeouts });
    await agent.vanish();
    return agent;
  }

  /** Asserts that the check changes exactly at the tick, not one millisecond before. */
  async function passTick(name: string, ms: number): Promise<unknown> {
    const before = await checkOf(name);
    await backend.clock.advance(ms - 1);
    expect(await checkOf(name)).to.deep.equal(before);
    await backend.clock.advance(1);
    const now = await checkOf(name);
    expect(now).to.not.deep.equal(before);
    return now;
  }

  it('case 24: with W=5 alerts after exactly 5 s, and every 5 s again', async () => {
    await silent('ka-24', { timeout: 5 });
    for (const occurrences of [1, 2, 3]) {
      expect(await passTick('ka-24', 5_000)).to.deep.include({
        status: 1,
        state: 'failing',
        output: `No keepalive sent from ka-24 for ${5 * occurrences} seconds (>= 5)`,
        occurrences,
      });
    }
  });

  it('case 25: with W=5 and C=8 is in warning at 5 s and critical at 8 s, 10 s and 15 s', async () => {
    await silent('ka-25', { timeout: 5, ttl: 8 });
    const said = (seconds: number, limit: number) =>
      `No keepalive sent from ka-25 for ${seconds} seconds (>= ${limit})`;
    expect(await passTick('ka-25', 5_000)).to.deep.include({ status: 1, output: said(5, 5), occurrences: 1 });
    expect(await passTick('ka-25', 3_000)).to.deep.include({ status: 2, output: said(8, 8), occurrences: 1 });
    expect(await passTick('ka-25', 2_000)).to.deep.include({ status: 2, output: said(10, 8), occurrences: 2 });
    expect(await passTick('ka-25', 5_000)).to.deep.include({ status: 2, output: said(15, 8), occurrences: 3 });
  });

  it('case 26: with C=0 never has status 2', async () => {
    await silent('ka-26', { timeout: 5, ttl: 0 });
    for (let tick = 1; tick <= 60; tick += 1) {
      await backend.clock.advance(5_000);
      expect(await checkOf('ka-26')).to.deep.include({ status: 1, occurrences: tick });
    }
  });

  it('with W=0 and C=8 skips the warning state', async () => {
    await silent('ka-w0', { timeout: 0, ttl: 8 });
    expect(await passTick('ka-w0', 8_000)).to.deep.include({ status: 2, occurrences: 1 });
    expect(await passTick('ka-w0', 8_000)).to.deep.include({ status: 2, occurrences: 2 });
  });

  it('case 27: resolves with its next keepalive, as the history shows', async () => {
    await silent('ka-27', { timeout: 5, ttl: 8 });
    await backend.clock.advance(9_000);
    const agent = await ReportingAgent.connect(backend, 'ka-27');
    await agent.keepalive({ interval: 2, timeout: 5, ttl: 8 });
    const check = await checkOf('ka-27');
    expect(check).to.deep.include({ status: 0, state: 'passing', occurrences: 1, last_ok: backend.nowS });
    expect((at(check, 'history') as { status: number }[]).map(({ status }) => status)).to.deep.equal([0, 1, 2, 0]);
    await agent.vanish();
    expect(await passTick('ka-27', 5_000)).to.deep.include({ status: 1, occurrences: 1 });
  });

  it('case 28: gets a new event id with each alert', async () => {
    await silent('ka-28', { timeout: 5 });
    const ids = new Set<unknown>();
    for (let tick = 0; tick < 4; tick += 1) {
      ids.add(at(await api.event('ka-28', 'keepalive'), 'id'));
      await backend.clock.advance(5_000);
    }
    expect(ids).to.have.property('size', 4);
  });

  it('case 32: uses another W from its first keepalive after a reconnect', async () => {
    await silent('ka-32', { timeout: 5 });
    await backend.clock.advance(4_000);
    const agent = await ReportingAgent.connect(backend, 'ka-32');
    await backend.clock.advance(500);
    await agent.keepalive({ interval: 2, timeout: 30 });
    await agent.vanish();
    expect(await passTick('ka-32', 30_000)).to.deep.include({ status: 1 });
  });

  it('does not alert while keepalives come within W', async () => {
    const agent = await ReportingAgent.connect(backend, 'ka-steady');
    for (let n = 0; n < 10; n += 1) {
      await agent.keepalive({ interval: 2, timeout: 5 });
      await backend.clock.advance(4_999);
      expect(await statusOf('ka-steady')).to.equal(0);
    }
    expect(await api.ledger({ actor: 'entity', key: 'default/ka-steady' })).to.have.lengthOf(1);
  });

  it('records every transition in the ledger with time, cause and numbers', async () => {
    const bornAtMs = backend.clock.nowMs();
    const killed = await ReportingAgent.connect(backend, 'ka-kill');
    await killed.keepalive({ interval: 2, timeout: 5, ttl: 8 });
    await killed.vanish();
    await backend.clock.advance(9_000);
    const back = await ReportingAgent.connect(backend, 'ka-kill');
    await back.keepalive({ interval: 2, timeout: 5, ttl: 8 });

    const entries = await api.ledger({ actor: 'entity', key: 'default/ka-kill' });
    expect(entries.map(({ from, to, event, atMs }) => [from, to, event, atMs - bornAtMs])).to.deep.equal([
      [null, 'registered', 'keepalive.received', 0],
      ['registered', 'warning', 'deadline.reached', 5_000],
      ['warning', 'critical', 'deadline.reached', 8_000],
      ['critical', 'registered', 'keepalive.received', 9_000],
    ]);
    expect(entries.slice(1, 3).map(({ cause }) => cause)).to.deep.equal([
      { deadlineAtMs: bornAtMs + 5_000 },
      { deadlineAtMs: bornAtMs + 8_000 },
    ]);
    for (const index of [0, 3]) expect(entries[index]?.cause).to.have.property('eventId').that.is.a('string');
    expect(entries[2]?.guards).to.deep.equal([
      {
        name: 'deadlineMoved',
        passed: false,
        inputs: { deadlineAtMs: bornAtMs + 8_000, reachedAtMs: bornAtMs + 8_000 },
      },
      { name: 'keepaliveEventGone', passed: false, inputs: { keepaliveEventExists: true } },
      { name: 'mustDeregister', passed: false, inputs: { deregister: false } },
      { name: 'criticalTimeoutPassed', passed: true, inputs: { elapsedMs: 8_000, criticalMs: 8_000 } },
    ]);
    const states = await api.ledger({ actor: 'check-state', key: 'default/ka-kill/keepalive' });
    expect(states.map(({ from, to }) => [from, to])).to.deep.equal([
      [null, 'passing'],
      ['passing', 'failing'],
      ['failing', 'failing'],
      ['failing', 'passing'],
    ]);
    expect(verify(backend.store.ledgerEntries())).to.have.property('ok', true);
  });
});
