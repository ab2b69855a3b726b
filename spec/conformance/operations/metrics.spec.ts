import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { SCHEDULE_KINDS } from '../../../src/actors/schedules/schedule-counts.ts';
import { storeDirectory } from '../../../src/main/process/directories.ts';
import { HandshakeRefused } from '../../support/agent-client.ts';
import { eventually } from '../../support/eventually.ts';
import { agentEntity, checkEvent, proxyEvent } from '../../support/example-events.ts';
import { perTest } from '../../support/fixture.ts';
import { readGolden } from '../../support/golden-file.ts';
import { ReportingAgent } from '../../support/reporting-agent.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';
import { MetricChanges, scrape } from '../../support/scrape.ts';
import { failingMachines, Sabotage } from '../inspection/failing-machines.ts';

interface GoldenFamily {
  name: string;
  type: string;
  labels?: Record<string, string[]>;
}

const EVENTS = ['sensu_go_events_processed', { status: 'success', type: 'check' }] as const;
const LOST_EVENTS = ['sensu_go_events_processed', { status: 'error', type: 'check' }] as const;
const METRIC_EVENTS = ['sensu_go_events_processed', { status: 'success', type: 'metrics' }] as const;
const POINTS = ['sensu_go_event_metric_points_processed'] as const;
const ALIVE = ['sensu_go_keepalives', { status: 'alive' }] as const;
const DEAD = ['sensu_go_keepalives', { status: 'dead' }] as const;
const REFUSED_MESSAGES = ['mon_messages_refused_total'] as const;
const EVALUATED = ['mon_sandbox_evaluations_total'] as const;
const STOPPED = ['mon_sandbox_stopped_total'] as const;
const SESSIONS = ['sensu_go_agent_sessions', { namespace: 'default' }] as const;
const HANDLED = ['sensu_go_handler_requests', { status: '0', type: 'core/v2.Handler' }] as const;
const FAILED = ['sensu_go_handler_requests', { status: '1', type: 'core/v2.Handler' }] as const;
const ALL_RUNS = ['sensu_go_handler_requests_total'] as const;
const BUSY = ['sensu_go_event_handlers_busy'] as const;
const COMMITS = ['mon_commits_total'] as const;
const DECISIONS = ['mon_commit_decisions_total'] as const;
const COMMIT_FAILURES = ['mon_commit_failures_total'] as const;
const LEDGER_SEQ = ['mon_ledger_seq'] as const;
const BLIND = ['mon_blind_seconds_total'] as const;
const ENTITY_FAILURES = ['mon_actor_failures_total', { actor: 'entity' }] as const;
const ENTITIES_QUARANTINED = ['mon_quarantined_actors', { actor: 'entity' }] as const;
const ENTITY_DEADLINES = ['mon_armed_deadlines', { actor: 'entity' }] as const;
const AWAKE_ENTITIES = ['mon_awake_actors', { actor: 'entity' }] as const;
const CONNECTIONS = ['mon_awake_actors', { actor: 'connection' }] as const;

const sessionError = (error: string) => ['sensu_go_session_errors', { error }] as const;
const refusedHandshakes = (status: number) => ['mon_handshakes_refused_total', { status: String(status) }] as const;

describe('the metrics of a backend', () => {
  const sabotage = perTest(() => new Sabotage());
  const backend = perTest(() => RestartableBackend.start({ machines: failingMachines(sabotage) }));
  const api = perTest(() => backend.login());
  const moved = perTest(() => MetricChanges.begin(backend));

  async function put(path: string, body: object): Promise<void> {
    const { status, text } = await api.put(path, body);
    expect(status, text).to.be.oneOf([200, 201]);
  }

  const handler = (name: string, command: string, changes: object = {}): Promise<void> =>
    put(`/ns/default/handlers/${name}`, {
      metadata: { name, namespace: 'default' },
      type: 'pipe',
      command,
      ...changes,
    });

  it('have the types and labels of the reference for the families that it has', async () => {
    await handler('h', 'true');
    await put('/ns/default/events/sw/c', proxyEvent('sw', 'c', { status: 1, handlers: ['h'] }));
    await eventually(
      () => moved.of(HANDLED),
      ([runs]) => runs === 1,
      { what: 'the run of the handler' },
    );
    const golden = JSON.parse(readGolden('backend/metrics.json')) as { families: GoldenFamily[] };
    const { families } = await scrape(backend);
    const shared = golden.families.filter(({ name }) => families.has(name));
    expect(shared.map(({ name }) => name)).to.include.members([
      'process_cpu_seconds_total',
      'process_resident_memory_bytes',
      'process_start_time_seconds',
      'sensu_go_agent_sessions',
      'sensu_go_build_info',
      'sensu_go_event_handler_duration',
      'sensu_go_event_handlers_busy',
      'sensu_go_event_metric_points_processed',
      'sensu_go_events_processed',
      'sensu_go_handler_requests',
      'sensu_go_handler_requests_total',
      'sensu_go_keepalives',
      'sensu_go_pipeline_handler_duration',
    ]);
    for (const { name, type, labels = {} } of shared) {
      const family = families.get(name);
      expect(family?.type, name).to.equal(type);
      for (const sample of family?.samples ?? []) {
        const expected = Object.keys(labels).filter((label) => label !== 'quantile' || sample.name === name);
        expect(Object.keys(sample.labels), sample.name).to.include.members(expected);
      }
    }
    const [ours] = families.get('sensu_go_pipeline_handler_duration')?.samples ?? [];
    expect(ours?.labels).to.include({ resource_ref: 'core/v2.Handler(Name=h)', status: 'success', quantile: '0.5' });
  });

  it('count the JavaScript that ran, and what was stopped of it', async () => {
    await put('/ns/default/events/sw/c', proxyEvent('sw', 'c', { status: 1 }));
    const check = {
      command: 'true',
      interval: 60,
      subscriptions: ['s'],
      proxy_requests: { entity_attributes: ['while (1);'] },
    };
    await put('/ns/default/checks/many', {
      metadata: { name: 'many', namespace: 'default' },
      publish: false,
      ...check,
    });
    await api.post('/ns/default/checks/many/execute', { check: 'many' });
    await eventually(
      () => moved.of(EVALUATED, STOPPED),
      ([evaluated = 0, stopped = 0]) => evaluated === 1 && stopped >= 1,
      { what: 'the evaluation' },
    );
    expect((await scrape(backend)).value('mon_sandbox_threads')).to.be.within(1, 3);
  });

  it("have no other family under the reference's prefix", async () => {
    const golden = JSON.parse(readGolden('backend/metrics.json')) as { families: GoldenFamily[] };
    const recorded = new Set(golden.families.map(({ name }) => name));
    // The recorded reference exposed no values of these families.
    for (const name of ['session_errors', 'websocket_errors']) recorded.add(`sensu_go_${name}`);
    for (const kind of SCHEDULE_KINDS) recorded.add(`sensu_go_${kind}_schedulers`);
    const names = [...(await scrape(backend)).families.keys()];
    expect(names.filter((name) => name.startsWith('sensu_go_') && !recorded.has(name))).to.deep.equal([]);
    expect(names.filter((name) => !/^(sensu_go|mon|process|nodejs)_/.test(name))).to.deep.equal([]);
  });

  it('count stored keepalives and results, and separately refused ones', async () => {
    const agent = await ReportingAgent.connect(backend, 'm-1');
    await agent.keepalive();
    await agent.result('disk');
    await agent.result('disk', { status: 1 });
    expect(await moved.of(ALIVE, DEAD, EVENTS, METRIC_EVENTS, REFUSED_MESSAGES)).to.deep.equal([1, 0, 3, 0, 0]);
    await agent.result('disk', { interval: -1 });
    expect(await moved.of(EVENTS, LOST_EVENTS, REFUSED_MESSAGES)).to.deep.equal([3, 0, 1]);
  });

  it('count an event once that is sent twice with one number', async () => {
    const agent = await backend.connect({ name: 'm-1', queueId: randomUUID() });
    for (let times = 0; times < 2; times += 1) agent.send('event 1', checkEvent('m-1', 'disk'));
    await agent.ping('both');
    await backend.clock.settle();
    expect(await moved.of(EVENTS)).to.deep.equal([1]);
  });

  it('count events of the API, events without a check, and their metric points', async () => {
    const points = [1, 2, 3].map((value) => ({ name: 'x', value, timestamp: 1, tags: [] }));
    const entity = { entity_class: 'proxy', metadata: { name: 'sw', namespace: 'default' } };
    const posted = await api.post('/ns/default/events', { entity, metrics: { handlers: [], points } });
    expect(posted.status, posted.text).to.equal(200);
    await put('/ns/default/events/sw/c', {
      ...proxyEvent('sw', 'c'),
      metrics: { handlers: [], points: points.slice(0, 2) },
    });
    expect(await moved.of(METRIC_EVENTS, EVENTS, POINTS)).to.deep.equal([1, 1, 5]);
    const agent = await ReportingAgent.connect(backend, 'm-1');
    const { timestamp, metadata, id } = checkEvent('m-1', 'none');
    agent.socket.send('event', { timestamp, metadata, id, entity: agentEntity('m-1'), metrics: { points } });
    await agent.socket.ping('decided');
    await backend.clock.settle();
    expect(await moved.of(METRIC_EVENTS, EVENTS, POINTS)).to.deep.equal([2, 1, 8]);
  });

  it('count each alert of a missed keepalive', async () => {
    const agent = await ReportingAgent.connect(backend, 'm-1');
    await agent.keepalive({ interval: 2, timeout: 10, ttl: 25 });
    await agent.vanish();
    await backend.clock.advance(9_999);
    expect(await moved.of(ALIVE, DEAD)).to.deep.equal([1, 0]);
    await backend.clock.advance(20_000);
    // At 10, 20 and 25 seconds.
    expect(await moved.of(ALIVE, DEAD, EVENTS)).to.deep.equal([1, 3, 4]);
  });

  it('show the number of sessions of each namespace, including zero', async () => {
    await put('/api/core/v2/namespaces/dev', { name: 'dev' });
    const agents = await Promise.all(['m-1', 'm-2'].map((name) => ReportingAgent.connect(backend, name)));
    const dev = await ReportingAgent.connect(backend, 'm-3', { namespace: 'dev' });
    const IN_DEV = ['sensu_go_agent_sessions', { namespace: 'dev' }] as const;
    expect(await moved.of(SESSIONS, IN_DEV, CONNECTIONS)).to.deep.equal([2, 1, 3]);
    for (const agent of [...agents, dev]) await agent.vanish();
    expect(await moved.of(SESSIONS, IN_DEV, CONNECTIONS)).to.deep.equal([0, 0, 0]);
    const { families } = await scrape(backend);
    const namespaces = families.get('sensu_go_agent_sessions')?.samples.map(({ labels }) => labels['namespace']);
    expect(namespaces).to.have.members(['default', 'dev', 'mon-system']);
  });

  it('count refused handshakes by status', async () => {
    const refused = async (options: Parameters<RestartableBackend['connect']>[0]): Promise<void> => {
      const error: unknown = await backend.connect(options).catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(HandshakeRefused);
    };
    await refused({ name: 'm-1', credentials: { username: 'agent', password: 'wr0ng-secret' } });
    await refused({ name: 'm-1', credentials: { username: 'nobody', password: 'wr0ng-secret' } });
    await refused({ name: 'm-1', namespace: 'nowhere' });
    expect(await moved.of(refusedHandshakes(401), refusedHandshakes(404), SESSIONS)).to.deep.equal([2, 1, 0]);
  });

  it('count a session that ends because of a message without a type', async () => {
    const agent = await ReportingAgent.connect(backend, 'm-1');
    agent.socket.sendRaw('no type line');
    await agent.socket.closed();
    await backend.clock.settle();
    expect(await moved.of(sessionError('protocol violated'), REFUSED_MESSAGES, SESSIONS)).to.deep.equal([1, 1, 0]);
  });

  it('count a message above the limit among the failed reads', async () => {
    const agent = await ReportingAgent.connect(backend, 'm-1');
    agent.socket.sendRaw(Buffer.alloc(10 * 1024 * 1024 + 1));
    await agent.socket.closed();
    await backend.clock.settle();
    const tooLong = ['sensu_go_websocket_errors', { op: 'recv', error: 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH' }] as const;
    expect(await moved.of(tooLong, REFUSED_MESSAGES)).to.deep.equal([1, 1]);
  });

  it('count handler runs by outcome', async () => {
    await handler('good', 'cat > /dev/null');
    await handler('bad', 'exit 1');
    const handlers = ['good', 'bad', 'missing'];
    await put('/ns/default/events/sw/c', proxyEvent('sw', 'c', { status: 1, handlers }));
    await put('/ns/default/events/sw/c', proxyEvent('sw', 'c', { status: 1, handlers: ['good'] }));
    await eventually(
      () => moved.of(ALL_RUNS),
      ([runs]) => runs === 3,
      { what: 'three runs' },
    );
    await backend.clock.settle();
    const OUTBOX = ['mon_queue_depth', { queue: 'outbox' }] as const;
    await eventually(
      () => moved.of(OUTBOX),
      ([waiting]) => waiting === 0,
      { what: 'an empty outbox' },
    );
    expect(await moved.of(HANDLED, FAILED, ALL_RUNS, BUSY)).to.deep.equal([2, 1, 3, 0]);
    const duration = (resource: string, status: string) =>
      [
        'sensu_go_pipeline_handler_duration_count',
        { namespace: 'default', resource_ref: `core/v2.Handler(Name=${resource})`, status },
      ] as const;
    expect(await moved.of(duration('good', 'success'), duration('bad', 'error'))).to.deep.equal([2, 1]);
    const ofEvents = (status: string) =>
      ['sensu_go_event_handler_duration_count', { event_type: 'check', status }] as const;
    expect(await moved.of(ofEvents('success'), ofEvents('error'))).to.deep.equal([2, 1]);
  });

  it('show running handlers and pending notifications', async () => {
    await handler('slow', 'sleep 600');
    for (let n = 0; n < 3; n += 1)
      await put('/ns/default/events/sw/c', proxyEvent('sw', 'c', { status: 1, handlers: ['slow'] }));
    const depth = (queue: string) => ['mon_queue_depth', { queue }] as const;
    await eventually(
      () => moved.of(depth('outbox')),
      ([waiting]) => waiting === 3,
      { what: 'three in the outbox' },
    );
    expect(await moved.of(BUSY, depth('running_handlers'), ALL_RUNS)).to.deep.equal([1, 1, 0]);
    // Ends the handler, which would otherwise outlast the backend.
    const stopped = backend.halt();
    await backend.clock.advance(5_000);
    await stopped;
  });

  it('count schedules as checks are created and deleted', async () => {
    const fields = {
      interval: { interval: 10 },
      cron: { cron: '@daily' },
      round_robin_interval: { interval: 10, round_robin: true },
      round_robin_cron: { cron: '@daily', round_robin: true },
    };
    for (const kind of SCHEDULE_KINDS) {
      const gauge = [`sensu_go_${kind}_schedulers`, { namespace: 'default' }] as const;
      const check = { metadata: { name: 'c', namespace: 'default' }, command: 'true', publish: true, ...fields[kind] };
      await put('/ns/default/checks/c', { ...check, subscriptions: ['linux'] });
      expect(await moved.of(gauge), kind).to.deep.equal([1]);
      expect((await api.delete('/ns/default/checks/c')).status).to.equal(204);
      expect(await moved.of(gauge), kind).to.deep.equal([0]);
    }
  });

  it('count commits and their operations, and show the end of the ledger', async () => {
    for (const name of ['a', 'b', 'c']) await put(`/ns/default/events/${name}/c`, proxyEvent(name, 'c'));
    expect(await moved.of(COMMITS, DECISIONS, COMMIT_FAILURES)).to.deep.equal([3, 3, 0]);
    const entries = await api.ledger({ actor: 'check-state' });
    expect((await scrape(backend)).value(...LEDGER_SEQ)).to.be.at.least(entries.at(-1)?.seq ?? Infinity);
    const seqs = (await Promise.all(['entities', 'entity'].map((actor) => api.ledger({ actor })))).flat();
    const last = Math.max(...[...entries, ...seqs].map(({ seq }) => seq));
    expect((await scrape(backend)).value(...LEDGER_SEQ)).to.equal(last);
  });

  it('count the results of a failed commit as failed, and the time until writes succeed again as blind', async () => {
    const agent = await ReportingAgent.connect(backend, 'm-1');
    await agent.keepalive();
    const before = await MetricChanges.begin(backend);
    backend.store.failUntilHealed();
    agent.socket.send('event', checkEvent('m-1', 'disk'));
    await agent.socket.closed();
    await backend.clock.settle();
    expect(await before.of(EVENTS, LOST_EVENTS, COMMITS, COMMIT_FAILURES)).to.deep.equal([0, 1, 0, 1]);
    expect(await before.of(sessionError('store failed'))).to.deep.equal([1]);
    await backend.clock.advance(6_000);
    backend.store.heal();
    await backend.clock.advance(1_000);
    expect(await before.of(BLIND, COMMIT_FAILURES)).to.deep.equal([7, 1]);
    const UNSTORED_ENDS = ['mon_queue_depth', { queue: 'unstored_ends' }] as const;
    expect(await before.of(UNSTORED_ENDS)).to.deep.equal([0]);
  });

  it('count the time in which the process was paused as blind', async () => {
    await backend.clock.stall(12_000);
    const [blind] = await moved.of(BLIND);
    expect(blind).to.be.within(10, 12);
  });

  it('count failures of state machines, and show quarantined actors', async () => {
    const agent = await ReportingAgent.connect(backend, 'm-1');
    await agent.keepalive();
    sabotage.arm('default/m-1', 'action', 5);
    for (let times = 0; times < 4; times += 1) await agent.keepalive();
    expect(await moved.of(ENTITY_FAILURES, ENTITIES_QUARANTINED)).to.deep.equal([4, 0]);
    await agent.keepalive();
    expect(await moved.of(ENTITY_FAILURES, ENTITIES_QUARANTINED)).to.deep.equal([5, 1]);
    await backend.clock.advance(60_000);
    expect(await moved.of(ENTITY_FAILURES, ENTITIES_QUARANTINED)).to.deep.equal([5, 0]);
  });

  it('show deadlines and active actors', async () => {
    const agent = await ReportingAgent.connect(backend, 'm-1');
    await agent.keepalive();
    await agent.result('disk', { ttl: 60 });
    const TTL_DEADLINES = ['mon_armed_deadlines', { actor: 'check-ttl' }] as const;
    expect(await moved.of(ENTITY_DEADLINES, AWAKE_ENTITIES, TTL_DEADLINES)).to.deep.equal([1, 1, 1]);
    expect((await api.delete('/ns/default/events/m-1/disk')).status).to.equal(204);
    expect(await moved.of(ENTITY_DEADLINES, AWAKE_ENTITIES, TTL_DEADLINES)).to.deep.equal([1, 1, 0]);
  });

  it('show the size of the store on disk', async () => {
    await put('/ns/default/events/sw/c', proxyEvent('sw', 'c', { output: 'x'.repeat(200_000) }));
    await put('/ns/default/events/sw/c', proxyEvent('sw', 'c'));
    const metrics = await scrape(backend);
    const [bytes, used, free] = [
      metrics.value('mon_store_bytes'),
      metrics.value('mon_store_used_bytes'),
      metrics.value('mon_store_free_pages'),
    ];
    expect(bytes).to.be.at.most(statSync(join(storeDirectory(backend.stateDir), 'data.mdb')).size);
    expect(bytes).to.be.above(200_000);
    expect(used).to.be.below(bytes - 200_000);
    expect((bytes - used) % free).to.equal(0);
    expect((bytes - used) / free).to.be.oneOf([4_096, 16_384, 65_536]);
  });

  it('show the sizes of the caches', async () => {
    const entries = (cache: string) => ['mon_cache_entries', { cache }] as const;
    const agent = await ReportingAgent.connect(backend, 'm-1');
    await agent.result('disk', { interval: -1 });
    expect(await moved.of(entries('credentials'), entries('refused_messages'))).to.deep.equal([1, 1]);
    expect(await moved.of(entries('access_tokens'))).to.deep.equal([0]);
    expect((await api.get('/ns/default/checks')).status).to.equal(200);
    expect(await moved.of(entries('access_tokens'))).to.deep.equal([1]);
  });
});
