import { expect } from 'chai';
import { perTest } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';
import { RestartableBackend, START_MS } from '../../support/restartable-backend.ts';
import { SubscribedAgent } from '../../support/subscribed-agent.ts';

/** The first tick of `check-disk` at an interval of 10 s. */
const FIRST_TICK_MS = 6_679;
const INTERVAL_MS = 10_000;
const CHECK = '/ns/default/checks/check-disk';
const TICKS = '/api/mon/v1/namespaces/default/checks/check-disk/ticks';

interface Streak {
  outcome: string;
  reason?: string;
  from: number;
  to: number;
  every?: number;
  count?: number;
  agents?: { least: number; most: number };
}

describe('the ticks of a check', () => {
  const backend = perTest(() => RestartableBackend.start());
  const api = perTest(() => backend.login());
  const agent = perTest(() => SubscribedAgent.register(backend, 'runner', 'sys'));

  async function put(changes: object = {}): Promise<void> {
    const metadata = { name: 'check-disk', namespace: 'default' };
    const check = { metadata, command: 'x', interval: 10, subscriptions: ['sys'], publish: true, ...changes };
    expect((await api.put(CHECK, check)).status).to.be.oneOf([200, 201]);
    await backend.clock.settle();
  }

  async function streaks(query = ''): Promise<Streak[]> {
    const answer = await api.get(`${TICKS}${query}`);
    expect(answer.status, JSON.stringify(answer.json)).to.equal(200);
    return at(answer.json, 'ticks') as Streak[];
  }

  /** Outcome, reason, number of the first tick and number of ticks. */
  const short = (all: Streak[]) =>
    all.map(({ outcome, reason, from, count }) => [
      outcome,
      reason ?? '',
      (from * 1_000 - START_MS - FIRST_TICK_MS) / INTERVAL_MS,
      count,
    ]);

  async function tick(times = 1, answers = true): Promise<void> {
    for (let count = 0; count < times; count += 1) {
      await backend.clock.advance(INTERVAL_MS);
      if (answers) await agent.answer();
    }
  }

  it('that ran are one streak, of the check and of each entity', async () => {
    await put();
    await tick(3);
    const [ran, ...others] = await streaks();
    expect(others).to.deep.equal([]);
    const fromS = (START_MS + FIRST_TICK_MS) / 1_000;
    expect(ran).to.deep.equal({
      outcome: 'ran',
      from: fromS,
      to: fromS + 20,
      every: 10,
      count: 3,
      agents: { least: 1, most: 1 },
    });
    expect(short(await streaks('?entity=runner'))).to.deep.equal([['ran', '', 0, 3]]);
    expect(await streaks('?entity=stranger')).to.deep.equal([]);
  });

  it('that ran for an entity stay on record when a user deletes the event, before and after its next result', async () => {
    await put();
    await tick(3);
    const event = '/ns/default/events/runner/check-disk';
    expect((await api.request({ method: 'DELETE', path: event })).status).to.equal(204);
    expect(short(await streaks('?entity=runner'))).to.deep.equal([['ran', '', 0, 3]]);
    await tick(2);
    expect(short(await streaks('?entity=runner'))).to.deep.equal([['ran', '', 0, 5]]);
  });

  it('that were skipped have the reason', async () => {
    await put({ publish: false });
    await tick(2);
    const begin = new Date(backend.clock.nowMs()).toISOString();
    const end = new Date(backend.clock.nowMs() + 15_000).toISOString();
    await put({ subdues: [{ begin, end }] });
    await tick(2);
    await agent.leave();
    await tick(1, false);
    expect(short(await streaks())).to.deep.equal([
      ['skipped', 'not published', 0, 2],
      ['skipped', 'subdued', 2, 1],
      ['ran', '', 3, 1],
      ['skipped', 'no agents', 4, 1],
    ]);
    expect(short(await streaks('?entity=runner'))).to.deep.equal([
      ['ran', '', 3, 1],
      ['lost', 'the agent was not connected', 4, 1],
    ]);
  });

  it('that an entity did not answer are lost, until a late result arrives', async () => {
    await put();
    await tick(2);
    await tick(1, false);
    const unanswered = await agent.requests();
    await tick(9);
    expect(short(await streaks('?entity=runner'))).to.deep.equal([
      ['ran', '', 0, 2],
      ['lost', 'the agent did not answer', 2, 1],
      ['ran', '', 3, 9],
    ]);
    for (const request of unanswered) await agent.report(request);
    expect(short(await streaks('?entity=runner'))).to.deep.equal([['ran', '', 0, 12]]);
  });

  it('at which an agent is not connected are lost for it, and ran for others', async () => {
    const other = await SubscribedAgent.register(backend, 'other', 'sys');
    await put();
    await tick(2);
    await other.answer();
    await backend.clock.advance(INTERVAL_MS);
    await agent.answer();
    await other.leave();
    await tick(10);
    expect(short(await streaks())).to.deep.equal([['ran', '', 0, 13]]);
    expect(short(await streaks('?entity=runner'))).to.deep.equal([['ran', '', 0, 13]]);
    expect(short(await streaks('?entity=other'))).to.deep.equal([
      ['ran', '', 0, 2],
      ['lost', 'the connection ended before the result', 2, 1],
      ['lost', 'the agent was not connected', 3, 10],
    ]);
    const again = await SubscribedAgent.register(backend, 'other', 'sys');
    await tick(1);
    await again.answer();
    expect(short(await streaks('?entity=other'))).to.deep.equal([
      ['ran', '', 0, 2],
      ['lost', 'the connection ended before the result', 2, 1],
      ['lost', 'the agent was not connected', 3, 10],
      ['ran', '', 13, 1],
    ]);
  });

  it('during a restart are lost because the backend was down, and none is left out', async () => {
    await put();
    await tick(2);
    await backend.downFor(60_000);
    const restarted = await SubscribedAgent.register(backend, 'runner', 'sys');
    const newApi = await backend.login();
    for (let count = 0; count < 2; count += 1) {
      await backend.clock.advance(INTERVAL_MS);
      await restarted.answer();
    }
    const expected = [
      ['ran', '', 0, 2],
      ['lost', 'the backend was down', 2, 6],
      ['ran', '', 8, 2],
    ];
    for (const query of ['', '?entity=runner']) {
      const { json } = await newApi.get(`${TICKS}${query}`);
      expect(short(at(json, 'ticks') as Streak[])).to.deep.equal(expected);
    }
  });

  it('that passed while the store could not be written, or the process was suspended, are lost for that reason', async () => {
    await put();
    await tick(2);
    backend.store.failUntilHealed();
    await backend.clock.advance(35_000);
    backend.store.heal();
    await backend.clock.advance(5_000);
    await agent.answer();
    await tick(2);
    backend.clock.suspend(60_000);
    await backend.clock.advance(INTERVAL_MS);
    await agent.answer();
    await tick(2);
    const all = await streaks();
    const counted = all.reduce((sum, { count = 0 }) => sum + count, 0);
    expect(counted).to.equal((backend.clock.nowMs() - START_MS) / INTERVAL_MS);
    expect(new Set(all.map(({ outcome, reason }) => `${outcome} ${reason ?? ''}`))).to.deep.equal(
      new Set(['ran ', 'lost the store could not be written', 'lost the backend was suspended']),
    );
  });

  it('over which the clock was set forward are skipped for that reason; none is lost when it is set back', async () => {
    await put();
    await tick(2);
    backend.clock.jump(3_600_000);
    await backend.clock.advance(INTERVAL_MS);
    await agent.answer();
    await tick(2);
    expect(short(await streaks())).to.deep.equal([
      ['ran', '', 0, 2],
      ['skipped', 'the clock was set', 2, 360],
      ['ran', '', 362, 3],
    ]);
    backend.clock.jump(-7_200_000);
    await tick(3);
    const all = await streaks();
    expect(all.filter(({ outcome }) => outcome === 'lost')).to.deep.equal([]);
    expect(all.reduce((sum, { count = 0, outcome }) => sum + (outcome === 'ran' ? count : 0), 0)).to.equal(8);
  });

  it('follow an edit of the interval without a gap', async () => {
    await put();
    await tick(2);
    await put({ interval: 5 });
    for (let count = 0; count < 4; count += 1) {
      await backend.clock.advance(5_000);
      await agent.answer();
    }
    const all = await streaks();
    expect(all.map(({ outcome, count }) => [outcome, count])).to.deep.equal([
      ['ran', 2],
      ['ran', 4],
    ]);
    expect(all[1]).to.have.property('every', 5);
    expect((await streaks('?entity=runner')).every(({ outcome }) => outcome === 'ran')).to.equal(true);
  });

  it('do not include runs that a user requests', async () => {
    await put();
    await tick(1);
    await backend.clock.advance(2_000);
    expect((await api.post(`${CHECK}/execute`, {})).status).to.equal(202);
    expect(await agent.answer()).to.equal(1);
    expect(short(await streaks())).to.deep.equal([['ran', '', 0, 1]]);
    expect(short(await streaks('?entity=runner'))).to.deep.equal([['ran', '', 0, 1]]);
  });

  it('belong to the agent that a ring chose', async () => {
    const other = await SubscribedAgent.register(backend, 'other', 'sys');
    await put({ round_robin: true });
    for (let count = 0; count < 4; count += 1) {
      await backend.clock.advance(INTERVAL_MS);
      await agent.answer();
      await other.answer();
    }
    expect((await streaks()).map(({ outcome, count }) => [outcome, count])).to.deep.equal([['ran', 4]]);
    const [ofOther, ofRunner] = [await streaks('?entity=other'), await streaks('?entity=runner')];
    expect([...ofOther, ...ofRunner].map(({ outcome, every, count }) => [outcome, every, count])).to.deep.equal([
      ['ran', 20, 2],
      ['ran', 20, 2],
    ]);
  });

  it('belong to each entity that a proxy run selects', async () => {
    for (const name of ['p1', 'p2']) {
      const labels = name === 'p1' ? { url: 'u' } : {};
      const entity = { entity_class: 'proxy', metadata: { name, namespace: 'default', labels } };
      expect((await api.put(`/ns/default/entities/${name}`, entity)).status).to.be.oneOf([200, 201]);
    }
    const proxy_requests = { entity_attributes: ['entity.entity_class == "proxy"'] };
    await put({ proxy_requests, command: 'x {{ .labels.url }}' });
    for (let count = 0; count < 3; count += 1) {
      await backend.clock.advance(INTERVAL_MS);
      while ((await agent.answer()) === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect((await streaks()).map(({ outcome, count }) => [outcome, count])).to.deep.equal([['ran', 3]]);
    expect(short(await streaks('?entity=p1'))).to.deep.equal([['ran', '', 0, 3]]);
    expect(short(await streaks('?entity=p2'))).to.deep.equal([['skipped', 'tokens not substituted', 0, 3]]);
  });

  it('are paged, and bad parameters are refused by name', async () => {
    await put();
    await tick(2);
    await put({ publish: false });
    await tick(2);
    await put();
    await tick(2);
    const first = await api.get(`${TICKS}?limit=2`);
    const next = String(first.headers['sensu-continue']);
    expect(short(at(first.json, 'ticks') as Streak[])).to.deep.equal([
      ['ran', '', 0, 2],
      ['skipped', 'not published', 2, 2],
    ]);
    expect(short(await streaks(`?continue=${next}`))).to.deep.equal([['ran', '', 4, 2]]);
    const untilS = Math.floor(START_MS / 1_000) + 20;
    expect(short(await streaks(`?since=${untilS - 10}&until=${untilS}`))).to.deep.equal([['ran', '', 1, 1]]);
    const inMs = `?since=${untilS - 10}.000&until=${untilS}.999`;
    expect(short(await streaks(inMs))).to.deep.equal([['ran', '', 1, 1]]);
    const bad = ['limit=0', 'since=x', 'entity=a/b', 'unknown=1', 'continue=-1', 'constructor=1', 'entity=a&entity=b'];
    for (const query of bad) {
      const refused = await api.get(`${TICKS}?${query}`);
      expect(refused.status, query).to.equal(400);
      expect(JSON.stringify(refused.json)).to.contain(query.split('=')[0]);
    }
    expect((await api.get(TICKS.replace('check-disk', 'none'))).status).to.equal(404);
  });

  it('without an outcome raise the alert missed-ticks of the own entity, and start again', async () => {
    await put();
    await tick(1);
    await backend.clock.advance(FIRST_TICK_MS - 10);
    expect(backend.clock.loseAlarms(20)).to.be.greaterThan(0);
    await backend.clock.advance(35_000);
    const own = (await api.get('/ns/mon-system/entities')).json as { metadata: { name: string } }[];
    const event = `/ns/mon-system/events/${own[0]?.metadata.name}/missed-ticks`;
    const alert = await api.get(event);
    expect(at(alert.json, 'check', 'status')).to.equal(2);
    expect(at(alert.json, 'check', 'output')).to.equal('ticks without an outcome: default/check-disk');
    await tick(3);
    expect(at((await api.get(event)).json, 'check', 'status')).to.equal(0);
    const all = short(await streaks());
    expect(all[0]).to.deep.equal(['ran', '', 0, 1]);
    expect(all[1]?.slice(0, 2)).to.deep.equal(['lost', 'no outcome was recorded']);
    expect(all.at(-1)?.[0]).to.equal('ran');
    const counted = all.reduce((sum, [, , , count]) => sum + Number(count), 0);
    expect(counted).to.equal(Math.floor((backend.clock.nowMs() - START_MS - FIRST_TICK_MS) / INTERVAL_MS) + 1);
  });
});
