import { expect } from 'chai';
import { perTest } from '../../support/fixture.ts';
import { proxyEvent } from '../../support/example-events.ts';
import { eventually } from '../../support/eventually.ts';
import { ReportingAgent } from '../../support/reporting-agent.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';
import { scrape } from '../../support/scrape.ts';
import { SeededRandom } from '../../support/seeded-random.ts';

const FAMILIES = ['mon_entities', 'mon_events', 'mon_silences'];
const OPERATIONS = 120;
const CHECKS = ['disk', 'load'];
const NAMES = ['a', 'b', 'c'];

describe('the metrics of the monitored world', () => {
  const backend = perTest(() => RestartableBackend.start());
  const api = perTest(() => backend.login());

  /** The series of a namespace, as `<family> <label values>`, with their values. */
  async function world(namespace?: string): Promise<Record<string, number>> {
    const { families } = await scrape(backend);
    const samples = FAMILIES.flatMap((name) => families.get(name)?.samples ?? []);
    const found = samples.filter(({ labels }) => namespace === undefined || labels['namespace'] === namespace);
    return Object.fromEntries(
      found.map(({ name, labels, value }) => {
        const { namespace: of, ...others } = labels;
        return [[name, ...(namespace === undefined ? [of] : []), ...Object.values(others)].join(' '), value];
      }),
    );
  }

  const put = (path: string, body: object) => api.put(path, body);
  const result = (entity: string, check: string, status: number) =>
    put(`/ns/default/events/${entity}/${check}`, proxyEvent(entity, check, { status }));
  const silence = (check: string, changes: object = {}) =>
    put(`/ns/default/silenced/*:${check}`, {
      metadata: { name: `*:${check}`, namespace: 'default' },
      check,
      ...changes,
    });

  it('count entities by class and state, events by status, and silences', async () => {
    const agent = await ReportingAgent.connect(backend, 'web-1');
    await agent.keepalive({ timeout: 60, ttl: 120 });
    await result('sw-1', 'ok', 0);
    await result('sw-1', 'warn', 1);
    await result('sw-1', 'crit', 2);
    await result('sw-1', 'odd', 127);
    await silence('quiet');
    await result('sw-1', 'quiet', 2);
    await silence('later', { begin: backend.nowS + 600, expire: 60 });
    expect(await world('default')).to.deep.equal({
      'mon_entities agent registered': 1,
      'mon_entities proxy registered': 1,
      'mon_events passing false': 2,
      'mon_events warning false': 1,
      'mon_events critical false': 1,
      'mon_events unknown false': 1,
      'mon_events critical true': 1,
      'mon_silences active': 1,
      'mon_silences pending': 1,
    });
    expect(await world('mon-system')).to.deep.equal({ 'mon_entities backend registered': 1 });
    await agent.vanish();
    await backend.clock.advance(61_000);
    expect(await world('default')).to.deep.include({
      'mon_entities agent warning': 1,
      'mon_events warning false': 2,
      'mon_events passing false': 1,
    });
    await backend.clock.advance(60_000);
    expect(await world('default')).to.deep.include({
      'mon_entities agent critical': 1,
      'mon_events critical false': 2,
    });
    await backend.clock.advance(600_000);
    expect(await world('default')).to.not.have.property('mon_silences pending');
    await api.delete('/ns/default/entities/web-1');
    await api.delete('/ns/default/entities/sw-1');
    await api.delete('/ns/default/silenced/*:quiet');
    expect(await world('default')).to.deep.equal({});
  });

  it('count the outcomes of handlers', async () => {
    const pipe = (name: string, command: string, filters: readonly string[] = []) =>
      put(`/ns/default/handlers/${name}`, { metadata: { name, namespace: 'default' }, type: 'pipe', command, filters });
    await pipe('good', 'cat > /dev/null');
    await pipe('bad', 'exit 1');
    await pipe('quiet', 'true', ['is_incident']);
    const handlers = ['good', 'bad', 'quiet', 'absent'];
    await put('/ns/default/events/sw-1/c', proxyEvent('sw-1', 'c', { status: 0, handlers }));
    const outcomes = await eventually(
      async () => {
        const samples = (await scrape(backend)).families.get('mon_notifications_total')?.samples ?? [];
        return samples.map(({ labels, value }) => `${labels['handler']} ${labels['outcome']} ${value}`);
      },
      (found) => found.length >= handlers.length,
      { what: 'the outcomes' },
    );
    expect(outcomes).to.have.members(['good handled 1', 'bad failed 1', 'quiet denied 1', 'absent skipped 1']);
  });

  it('count the entities and events of a deletion in steps until each of them is deleted', async () => {
    for (let index = 0; index < 120; index += 1) await result('sw-1', `c-${index}`, index % 3);
    expect(await world('default')).to.deep.include({ 'mon_events warning false': 40 });
    await api.delete('/ns/default/entities/sw-1');
    const left = await eventually(
      async () => {
        await backend.clock.advance(1_000);
        return world('default');
      },
      (series) => Object.keys(series).length === 0,
      { what: 'the end of the deletion' },
    );
    expect(left).to.deep.equal({});
  });

  it('are after random changes what a new start counts in the store', async function () {
    this.timeout(120_000);
    const random = SeededRandom.fresh();
    const any = (items: readonly string[]): string => items[random.below(items.length)] ?? '';
    const agents = new Map<string, ReportingAgent>();
    const agentOf = async (name: string): Promise<ReportingAgent> => {
      const known = agents.get(name);
      if (known?.socket.isOpen === true) return known;
      const agent = await ReportingAgent.connect(backend, name);
      agents.set(name, agent);
      return agent;
    };
    /** Ends all sessions, because the backend has asked some of them to end. */
    const leave = async (): Promise<void> => {
      for (const agent of agents.values()) await agent.vanish();
      agents.clear();
    };
    const operations = [
      () => result(any(NAMES), any(CHECKS), random.below(4)),
      async () => (await agentOf(any(NAMES))).keepalive({ timeout: 60, ttl: 120 }),
      async () => (await agentOf(any(NAMES))).result(any(CHECKS), { status: random.below(4), ttl: 90 }),
      async () => {
        await backend.clock.advance(random.below(100_000));
        await leave();
      },
      () => api.delete(`/ns/default/events/${any(NAMES)}/${any([...CHECKS, 'keepalive'])}`),
      async () => {
        await api.delete(`/ns/default/entities/${any(NAMES)}`);
        await leave();
      },
      () => silence(any(CHECKS), random.oneIn(2) ? {} : { begin: backend.nowS + 30, expire: 60 }),
      () => api.delete(`/ns/default/silenced/*:${any(CHECKS)}`),
      async () => {
        const name = any(NAMES);
        const metadata = { name, namespace: 'default' };
        await put(`/ns/default/entities/${name}`, { metadata, entity_class: any(['proxy', 'service', 'mine']) });
      },
    ];
    const done: number[] = [];
    for (let step = 0; step < OPERATIONS; step += 1) {
      const operation = random.below(operations.length);
      done.push(operation);
      await operations[operation]?.();
    }
    await leave();
    await backend.clock.settle();
    const counted = await world();
    await backend.restart();
    expect(counted, `seed ${random.seed}: ${done.join(' ')}`).to.deep.equal(await world());
    expect(Object.values(counted).every((count) => count > 0)).to.equal(true);
  });
});
