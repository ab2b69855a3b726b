import { expect } from 'chai';
import type { ApiClient } from '../support/api-client.ts';
import { at } from '../support/json-path.ts';
import { ReportingAgent } from '../support/reporting-agent.ts';
import { RestartableBackend } from '../support/restartable-backend.ts';

const NAME = 'web-01';
const DISK = 'entity:web-01:disk';
const KEY = `default/${DISK}`;
const LAST_MS_OF_A_SECOND = 999;

describe('F23: a silence that begins or ends in the same second as an event', () => {
  let backend: RestartableBackend;
  let api: ApiClient;
  let agent: ReportingAgent;

  beforeEach(async () => {
    backend = await RestartableBackend.start();
    api = await backend.login();
    agent = await ReportingAgent.connect(backend, NAME);
    await agent.keepalive({ timeout: 3_600 });
  });

  afterEach(() => backend.stop());

  async function silence(fields: Record<string, unknown>): Promise<void> {
    const metadata = { name: DISK, namespace: 'default' };
    const body = { metadata, subscription: `entity:${NAME}`, check: 'disk', ...fields };
    const { status, text } = await api.put(`/ns/default/silenced/${DISK}`, body);
    expect(status, text).to.equal(201);
  }

  /** Sends a result and returns the silences that act on it. Expects that the ledger explains them. */
  async function silencingNow(status = 1): Promise<unknown> {
    await agent.result('disk', { status });
    const names = (at(await api.event(NAME, 'disk'), 'check', 'silenced') ?? []) as string[];
    expect(names.includes(DISK), 'according to the ledger').to.equal(await actsByLedger());
    return names;
  }

  /** Whether the silence acts now, derived from its newest ledger entry alone. */
  async function actsByLedger(): Promise<boolean> {
    const last = (await api.ledger({ actor: 'silence', key: KEY })).at(-1);
    if (last === undefined || last.to === null) return false;
    const { begin, expire_at: end } = last.details as { begin: number; expire_at: number };
    return begin <= backend.nowS && (end === 0 || backend.nowS <= end);
  }

  async function restartAfter(ms: number): Promise<void> {
    await backend.downFor(ms);
    await backend.clock.advance(0);
    api = await backend.login();
    agent = await ReportingAgent.connect(backend, NAME);
  }

  const transitions = async () =>
    (await api.ledger({ actor: 'silence', key: KEY })).map(({ event, to }) => [event, to]);

  it('acts from the first millisecond of its first second', async () => {
    await silence({ begin: backend.nowS + 10 });
    await backend.clock.advance(9_999);
    expect(await silencingNow()).to.deep.equal([]);
    await backend.clock.advance(1);
    expect(await silencingNow()).to.deep.equal([DISK]);
    expect(await transitions()).to.deep.equal([
      ['silence.created', 'pending'],
      ['begin.reached', 'active'],
    ]);
  });

  it('acts until the last millisecond of its end second', async () => {
    await silence({ expire: 10 });
    await backend.clock.advance(10_000);
    expect(await silencingNow()).to.deep.equal([DISK]);
    await backend.clock.advance(LAST_MS_OF_A_SECOND);
    expect(await silencingNow()).to.deep.equal([DISK]);
    await backend.clock.advance(1);
    expect(await silencingNow()).to.deep.equal([]);
    expect(await transitions()).to.deep.equal([
      ['silence.created', 'active'],
      ['expiry.reached', null],
    ]);
  });

  it('ends at its time even if its deadline is late because the backend was stopped', async () => {
    await silence({ expire: 10 });
    const stopped = backend.clock.stall(10_000 + LAST_MS_OF_A_SECOND + 1);
    await agent.result('disk', { status: 1 });
    await stopped;
    expect(at(await api.event(NAME, 'disk'), 'check', 'silenced') ?? []).to.deep.equal([]);
    expect(await transitions()).to.deep.equal([
      ['silence.created', 'active'],
      ['expiry.reached', null],
    ]);
  });

  it('begins and ends at its times although the backend was down or restarted in that second', async () => {
    await silence({ begin: backend.nowS + 10, expire: 10 });
    await restartAfter(10_000);
    expect(await silencingNow()).to.deep.equal([DISK]);
    await restartAfter(10_500);
    expect(await silencingNow()).to.deep.equal([DISK]);
    await restartAfter(500);
    expect(await silencingNow()).to.deep.equal([]);
    expect(await transitions()).to.deep.equal([
      ['silence.created', 'pending'],
      ['begin.reached', 'active'],
      ['expiry.reached', null],
    ]);
  });

  it('ends with the resolving event if expire_on_resolve is set and its end is in the same second', async () => {
    await silence({ expire_on_resolve: true, expire: 10 });
    await backend.clock.advance(10_000);
    expect(await silencingNow(2)).to.deep.equal([DISK]);
    await agent.result('disk', { status: 0 });
    expect(at(await api.event(NAME, 'disk'), 'check')).to.deep.include({ status: 0, is_silenced: false });
    await agent.result('disk', { status: 2 });
    expect(at(await api.event(NAME, 'disk'), 'check')).to.deep.include({ status: 2, is_silenced: false });
    await backend.clock.advance(1_000);
    const [created, resolved, ...others] = await api.ledger({ actor: 'silence', key: KEY });
    expect(created).to.deep.include({ event: 'silence.created', to: 'active' });
    expect(resolved).to.deep.include({ event: 'check.resolved', to: null });
    expect(resolved?.details).to.deep.equal({ event: `default/${NAME}/disk`, creator: 'admin' });
    expect(others).to.deep.equal([]);
  });

  it('ends with the resolving event if expire_on_resolve is set and its start is in the same second', async () => {
    await agent.result('disk', { status: 2 });
    await silence({ begin: backend.nowS + 1, expire_on_resolve: true });
    await backend.clock.advance(1_000);
    await agent.result('disk', { status: 0 });
    expect(at(await api.event(NAME, 'disk'), 'check')).to.deep.include({ status: 0, is_silenced: false });
    expect((await transitions()).map(([event]) => event)).to.deep.equal([
      'silence.created',
      'begin.reached',
      'check.resolved',
    ]);
  });

  it('has the same outcome for the same inputs', async () => {
    const outcomes: unknown[] = [];
    for (let repetition = 0; repetition < 5; repetition += 1) {
      await silence({ begin: backend.nowS + 1, expire: 1, expire_on_resolve: true });
      const outcome: unknown[] = [];
      for (const status of [1, 0, 1, 2, 0, 1]) {
        await agent.result('disk', { status });
        outcome.push(at(await api.event(NAME, 'disk'), 'check', 'silenced') ?? []);
        await backend.clock.advance(500);
      }
      outcomes.push(outcome);
      await api.delete(`/ns/default/silenced/${DISK}`);
      await agent.result('disk', { status: 0 });
    }
    expect(outcomes[0]).to.deep.equal([[], [], [DISK], [DISK], [], []]);
    for (const outcome of outcomes) expect(outcome).to.deep.equal(outcomes[0]);
  });
});
