import { expect } from 'chai';
import { SubscribedAgent } from '../../support/subscribed-agent.ts';
import { perTest } from '../../support/fixture.ts';
import { readGolden } from '../../support/golden-file.ts';
import { at } from '../../support/json-path.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';

const { rows } = JSON.parse(readGolden('schedule/ring.json')) as { rows: { what: string; ticks: string[] }[] };
const recorded = (what: string): string[] => rows.find((row) => row.what === what)?.ticks ?? [];
const INTERVAL_MS = 10_000;

describe('a round-robin check', () => {
  const backend = perTest(() => RestartableBackend.start());
  const api = perTest(() => backend.login());
  let agents: SubscribedAgent[];

  beforeEach(() => {
    agents = [];
  });

  async function join(name: string, ...subscriptions: string[]): Promise<SubscribedAgent> {
    const agent = await SubscribedAgent.register(
      backend,
      name,
      ...(subscriptions.length === 0 ? ['r'] : subscriptions),
    );
    agents.push(agent);
    return agent;
  }

  async function put(changes: object = {}): Promise<void> {
    const metadata = { name: 'c', namespace: 'default' };
    const check = { metadata, command: 'x', interval: 10, subscriptions: ['r'], publish: true, round_robin: true };
    expect(await api.put('/ns/default/checks/c', { ...check, ...changes })).to.have.property('status', 201);
    await backend.clock.settle();
  }

  /** The agents that receive the check at each of this many ticks; several are joined by name. */
  async function ticks(count: number, everyMs = INTERVAL_MS): Promise<string[]> {
    const askedAt: string[] = [];
    for (let tick = 0; tick < count; tick += 1) {
      await backend.clock.advance(everyMs);
      const names: string[] = [];
      for (const agent of agents) for (const _ of await agent.requests()) names.push(agent.name);
      askedAt.push(names.toSorted().join(' '));
    }
    return askedAt;
  }

  const schedule = async (): Promise<unknown> =>
    (await api.get('/api/mon/v1/namespaces/default/checks/c/schedule')).json;

  it('runs on one agent at each tick, in the order of names, if its keepalives arrive', async () => {
    for (const name of ['c', 'a', 'b']) await join(name);
    const silent = await backend.connect({ name: 'aa', namespace: 'default', subscriptions: ['r'] });
    await put();
    expect(await ticks(6)).to.deep.equal(recorded('three members, one per tick'));
    expect(silent.waitingFrames).to.deep.equal([]);
  });

  it('follows a cron expression in the same order', async () => {
    for (const name of ['a', 'b', 'c']) await join(name);
    await put({ interval: undefined, cron: '@every 6s' });
    expect(await ticks(5, 6_000)).to.deep.equal(recorded('cron @every 6s'));
  });

  it('skips an agent that left before its position was reached', async () => {
    for (const name of ['a', 'b', 'c']) await join(name);
    await put();
    expect(await ticks(1)).to.deep.equal(['a']);
    const [left] = agents.splice(1, 1);
    await left?.leave();
    expect(await ticks(3)).to.deep.equal(['c', 'a', 'c']);
  });

  it('runs in each of its rings', async () => {
    for (const name of ['a', 'b', 'c']) await join(name, 'r', 'r2');
    await put({ subscriptions: ['r', 'r2', 'r'] });
    const both = recorded('check in two rings of the same members');
    expect((await ticks(6)).flatMap((names) => names.split(' '))).to.deep.equal(both);
  });

  it('waits for its first agent and starts one interval after it joined', async () => {
    await put();
    await backend.clock.advance(3_000);
    await join('late');
    await backend.clock.advance(INTERVAL_MS - 1);
    expect(await agents[0]?.requestCount()).to.equal(0);
    await backend.clock.advance(1);
    expect(await agents[0]?.requestCount()).to.equal(1);
    expect(await ticks(4)).to.deep.equal(['late', 'late', 'late', 'late']);
  });

  it('logs that its ring is empty, and starts again with the next agent', async () => {
    const one = await join('a');
    await put();
    expect(await ticks(1)).to.deep.equal(['a']);
    await one.leave();
    agents = [];
    await backend.clock.advance(2 * INTERVAL_MS);
    expect(at(await schedule(), 'last_skip')).to.deep.include({
      reason: 'no agents',
      detail: 'no agent is in a ring of its subscriptions',
    });
    await join('b');
    await backend.clock.advance(1);
    expect(at(await schedule(), 'next_at')).to.equal(backend.nowS + 10);
    expect(await ticks(1)).to.deep.equal(['b']);
  });

  it('never runs if it has subscriptions of entities only', async () => {
    await join('a');
    await put({ subscriptions: ['entity:a'] });
    expect(await ticks(3)).to.deep.equal(['', '', '']);
    expect(at(await schedule(), 'last_skip', 'reason')).to.equal('no agents');
  });

  it('continues with the next agent after a restart, on its grid, without a run at the start', async () => {
    for (const name of ['a', 'b', 'c']) await join(name);
    await put();
    expect(await ticks(2)).to.deep.equal(['a', 'b']);
    await backend.downFor(INTERVAL_MS);
    agents = [];
    for (const name of ['a', 'b', 'c']) await join(name);
    expect(await ticks(2)).to.deep.equal(['c', 'a']);
  });

  it('skips ticks while it is not published, and starts again with another interval', async () => {
    for (const name of ['a', 'b', 'c']) await join(name);
    await put();
    expect(await ticks(1)).to.deep.equal(['a']);
    await put({ publish: false });
    expect(await ticks(1)).to.deep.equal(['']);
    await put();
    expect(await ticks(1)).to.deep.equal(['c']);
    await put({ interval: 5 });
    expect(await ticks(1, 5_000)).to.deep.equal(['a']);
  });

  it('has its own order: another check in the same ring does not change it', async () => {
    for (const name of ['a', 'b']) await join(name);
    await put();
    expect(await ticks(1)).to.deep.equal(['a']);
    const other = { command: 'y', interval: 10, subscriptions: ['r'], publish: true, round_robin: true };
    await api.put('/ns/default/checks/d', { metadata: { name: 'd', namespace: 'default' }, ...other });
    expect(await ticks(1)).to.deep.equal(['a b']);
  });

  it('runs on all subscribers when a user requests it', async () => {
    for (const name of ['a', 'b']) await join(name);
    await put();
    await api.post('/ns/default/checks/c/execute', {});
    expect([await agents[0]?.requestCount(), await agents[1]?.requestCount()]).to.deep.equal([1, 1]);
    expect(await ticks(1)).to.deep.equal(['a']);
  });

  it('F12: runs on exactly one agent at each tick while agents join and leave, and on each about equally often', async () => {
    for (const name of ['a', 'b', 'c']) await join(name);
    await put();
    const counts = new Map<string, number>();
    for (let round = 0; round < 12; round += 1) {
      const [name = ''] = await ticks(1);
      expect(name.split(' ').filter(Boolean)).to.have.lengthOf(1);
      counts.set(name, (counts.get(name) ?? 0) + 1);
      if (round % 3 !== 2) continue;
      const [left] = agents.splice(0, 1);
      await left?.leave();
      await join(left?.name ?? '');
    }
    const all = [...counts.values()];
    expect(Math.max(...all) - Math.min(...all)).to.be.at.most(1);
  });
});
