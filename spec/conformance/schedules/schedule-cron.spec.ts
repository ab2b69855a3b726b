import { expect } from 'chai';
import type { ApiClient } from '../../support/api-client.ts';
import { SubscribedAgent } from '../../support/subscribed-agent.ts';
import { perTest } from '../../support/fixture.ts';
import { RestartableBackend, START_MS } from '../../support/restartable-backend.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** 22:13:20 UTC on 2023-11-14. */
const START = new Date(START_MS).toISOString();

describe('a check with a cron expression', () => {
  const backend = perTest(() => RestartableBackend.start());
  let api: ApiClient;
  let agent: SubscribedAgent;

  beforeEach(async () => {
    await connect();
  });

  async function connect(): Promise<void> {
    api = await backend.login();
    agent = await SubscribedAgent.register(backend, 'runner', 'sys');
  }

  async function put(name: string, cron: string, changes: object = {}): Promise<void> {
    const metadata = { name, namespace: 'default' };
    const check = { metadata, command: 'x', cron, subscriptions: ['sys'], publish: true, ...changes };
    expect(await api.put(`/ns/default/checks/${name}`, check)).to.have.property('status', 201);
    await backend.clock.settle();
  }

  /** Returns `check hh:mm` of each request since the last call. */
  async function runs(): Promise<string[]> {
    const asked = await agent.requests();
    return asked.map(({ check, issued }) => `${check} ${new Date(issued * 1_000).toISOString().slice(11, 16)}`);
  }

  const schedule = async (name: string): Promise<unknown> =>
    (await api.get(`/api/mon/v1/namespaces/default/checks/${name}/schedule`)).json;

  /** Stops the backend and starts it again at that time. */
  async function goTo(moment: string): Promise<void> {
    await backend.downFor(Date.parse(moment) - backend.clock.nowMs());
    await connect();
  }

  it(`runs at the times of its time zone, not at its creation (${START})`, async () => {
    await put('tokyo', 'CRON_TZ=Asia/Tokyo 15 7 * * *');
    await put('utc', 'TZ=UTC */2 22 * * *');
    const nextAtS = Date.parse('2023-11-14T22:15:00Z') / 1_000;
    expect(await schedule('tokyo')).to.deep.equal({
      interval: 0,
      cron: 'CRON_TZ=Asia/Tokyo 15 7 * * *',
      next_at: nextAtS,
      upcoming: Array.from({ length: 5 }, (_, day) => nextAtS + day * 86_400),
      last_at: null,
      last_skip: null,
    });
    await backend.clock.advance(99_999);
    expect(await runs()).to.deep.equal(['utc 22:14']);
    await backend.clock.advance(1);
    expect(await runs()).to.deep.equal(['tokyo 22:15']);
    await backend.clock.advance(3 * MINUTE_MS);
    expect(await runs()).to.deep.equal(['utc 22:16', 'utc 22:18']);
    expect(await schedule('tokyo')).to.deep.include({
      next_at: Date.parse('2023-11-15T22:15:00Z') / 1_000,
      last_at: Date.parse('2023-11-14T22:15:00Z') / 1_000,
    });
  });

  it('with @every runs one interval after its creation, and at each interval after that', async () => {
    await put('often', '@every 90s');
    await backend.clock.advance(90_000);
    expect(await runs()).to.deep.equal(['often 22:14']);
    await backend.clock.advance(90_000);
    expect(await runs()).to.deep.equal(['often 22:16']);
  });

  it('runs neither at a start of the backend nor for the ticks missed before it', async () => {
    await put('utc', 'TZ=UTC */5 * * * *');
    await backend.downFor(10 * MINUTE_MS);
    await connect();
    expect(await runs()).to.deep.equal([]);
    await backend.clock.advance(100_000);
    expect(await runs()).to.deep.equal(['utc 22:25']);
  });

  it('uses a new expression or interval as soon as it is set', async () => {
    await put('c', 'TZ=UTC 0 3 * * *');
    await put('c', 'TZ=UTC 14 22 * * *');
    await backend.clock.advance(40_000);
    expect(await runs()).to.deep.equal(['c 22:14']);
    await put('c', '', { cron: undefined, interval: 10 });
    await backend.clock.advance(20_000);
    expect(await runs()).to.have.lengthOf(2);
    await put('c', 'TZ=UTC 15 22 * * *');
    await backend.clock.advance(40_000);
    expect(await runs()).to.deep.equal(['c 22:15']);
  });

  it('F15: runs once for each hour and day when daylight saving time begins, and not at times that do not exist', async () => {
    await put('never', 'CRON_TZ=America/New_York 30 2 * * *');
    await put('three', 'CRON_TZ=America/New_York 0 3 * * *');
    await put('hourly', 'CRON_TZ=America/New_York @hourly');
    await goTo('2024-03-10T06:59:30Z');
    await backend.clock.advance(MINUTE_MS);
    expect((await runs()).toSorted()).to.deep.equal(['hourly 07:00', 'three 07:00']);
    expect(await schedule('hourly')).to.include({ next_at: Date.parse('2024-03-10T08:00:00Z') / 1_000 });
    expect(await schedule('never')).to.include({ next_at: Date.parse('2024-03-11T06:30:00Z') / 1_000 });
  });

  it('F15: runs at both occurrences of a repeated time when daylight saving time ends, and at no other times', async () => {
    await put('twice', 'CRON_TZ=America/New_York 30 1 * * *');
    await put('two', 'CRON_TZ=America/New_York 0 2 * * *');
    await put('hourly', 'CRON_TZ=America/New_York @hourly');
    const seen: string[] = [];
    for (const before of ['05:29:30', '05:59:30', '06:29:30', '06:59:30']) {
      await goTo(`2024-11-03T${before}Z`);
      await backend.clock.advance(MINUTE_MS);
      seen.push(...(await runs()).toSorted());
    }
    expect(seen).to.deep.equal(['twice 05:30', 'hourly 06:00', 'twice 06:30', 'hourly 07:00', 'two 07:00']);
  });

  it('F15: misses no day and sends no burst when the wall clock is set forward by an hour', async () => {
    await put('daily', 'TZ=UTC 30 22 * * *');
    await put('often', 'TZ=UTC */10 * * * *');
    await backend.clock.advance(100_000);
    backend.clock.jump(HOUR_MS);
    await backend.clock.advance(20 * MINUTE_MS);
    // Each skipped cron time runs once immediately; then the schedule continues.
    const [first, second, ...others] = await runs();
    expect([first, second].toSorted()).to.deep.equal(['daily 23:15', 'often 23:15']);
    expect(others).to.deep.equal(['often 23:20', 'often 23:30']);
    expect(await schedule('daily')).to.include({ next_at: Date.parse('2023-11-15T22:30:00Z') / 1_000 });
  });

  it('F15: misses no day and sends no burst when the wall clock is set back by an hour', async () => {
    await put('daily', 'TZ=UTC 30 22 * * *');
    await put('often', 'TZ=UTC */10 * * * *');
    await backend.clock.advance(18 * MINUTE_MS);
    expect((await runs()).toSorted()).to.deep.equal(['daily 22:30', 'often 22:20', 'often 22:30']);
    backend.clock.jump(-HOUR_MS);
    await backend.clock.advance(15 * MINUTE_MS);
    expect(await runs()).to.deep.equal(['often 21:40']);
    expect(await schedule('daily')).to.include({ next_at: Date.parse('2023-11-14T22:30:00Z') / 1_000 });
  });
});
