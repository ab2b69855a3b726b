import { expect } from 'chai';
import { isRunning } from '../../exec/is-running.ts';
import { type AgentClient, jsonOf } from '../../support/agent-client.ts';
import { BackendProcess } from '../../support/backend-process.ts';
import { ByteSinks } from '../../support/byte-sinks.ts';
import { eventually } from '../../support/eventually.ts';
import { agentEntity, keepalive, proxyEvent } from '../../support/example-events.ts';
import { perSuite } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';
import { PipelineUser } from '../../support/pipeline-user.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const EVENTS = 1_000;
/** Bytes of a UDP datagram that cannot be sent. */
const TOO_LONG = 70_000;

/** The cases of `spec/04` about what handlers receive, and from where. */
describe('the conformance cases of handlers and their events', function () {
  this.timeout(120_000);
  const backend = perSuite(() =>
    BackendProcess.start({ environment: { LD_LIBRARY_PATH: '/of-the-backend', MON_SECRET_C55: 'hunter2' } }),
  );
  const api = perSuite(() => backend.login());
  const directory = perSuite(temporaryDirectory, (made) => made.remove());
  const user = perSuite(() => new PipelineUser(api, directory.path));
  const sinks = perSuite(
    () => ByteSinks.listen(),
    (made) => made.close(),
  );

  /** Connects an agent that has sent its first keepalive. */
  async function registered(name: string, entity: Record<string, unknown> = {}): Promise<AgentClient> {
    const agent = await backend.connect({ name, subscriptions: [name] });
    agent.send('keepalive', keepalive(name, { entity, check: { handlers: undefined } }));
    await agent.ping('registered');
    return agent;
  }

  it('case 48: a handler is killed with its children at its timeout, which is its outcome', async () => {
    const command = `sleep 60 & echo $! > ${user.path('c48')}; echo began; sleep 60`;
    await user.put('handlers', 'c48', { type: 'pipe', command, timeout: 1 });
    const beganMs = performance.now();
    await user.event('c48', { handlers: ['c48'] });
    const [outcome] = await user.outcomes('c48', 1);
    expect(performance.now() - beganMs).to.be.within(1_000, 2_500);
    expect(outcome).to.include({ outcome: 'timed-out', status: 2, reason: 'Execution timed out\nbegan\n' });
    await eventually(() => !isRunning(Number(user.input('c48'))), Boolean, { what: 'the end of the child' });
  });

  it('case 49: paths of a handler precede those of the backend', async () => {
    const command = `printf '%s' "$PATH|$LD_LIBRARY_PATH" > ${user.path('c49')}`;
    const env_vars = ['PATH=/x', 'LD_LIBRARY_PATH=/y'];
    await user.put('handlers', 'c49', { type: 'pipe', command, env_vars });
    await user.event('c49', { handlers: ['c49'] });
    expect(await user.outcomeLines('c49', 1)).to.deep.equal(['c49 handled']);
    expect(user.input('c49')).to.equal(`/x:${process.env['PATH']}|/y:/of-the-backend`);
  });

  it('case 50: an event that is too long for a datagram has an outcome, and others are handled', async () => {
    const socket = { host: '127.0.0.1', port: sinks.udpPort };
    await user.put('handlers', 'c50-udp', { type: 'udp', socket });
    await user.handler('c50-next');
    await user.event('c50', { output: 'x'.repeat(TOO_LONG), handlers: ['c50-udp', 'c50-next'] });
    const outcomes = await user.outcomes('c50', 2);
    expect(outcomes.map(({ handler, outcome }) => `${String(handler)} ${String(outcome)}`)).to.have.members([
      'c50-udp failed',
      'c50-next handled',
    ]);
    expect((await api.get('/health')).status).to.equal(200);
  });

  it('case 51: the registration of an agent is handled once and not stored', async () => {
    await user.handler('registration');
    const agent = await registered('c51');
    agent.send('keepalive', keepalive('c51'));
    await agent.ping('again');
    expect(await user.outcomeLines('registration', 1, 'c51')).to.deep.equal(['registration handled']);
    expect(user.ran.filter((name) => name === 'registration')).to.have.lengthOf(1);
    expect((await api.get('/ns/default/events/c51/registration')).status).to.equal(404);
  });

  it('case 52: each keepalive reaches the handler keepalive, unless is_incident denies it', async () => {
    await user.handler('keepalive');
    const agent = await registered('c52');
    expect(await user.outcomeLines('keepalive', 1, 'c52')).to.deep.equal(['keepalive handled']);
    await api.patch('/ns/default/handlers/keepalive', { filters: ['is_incident'] });
    agent.send('keepalive', keepalive('c52', { check: { handlers: undefined } }));
    expect(await user.outcomeLines('keepalive', 2, 'c52')).to.deep.equal([
      'keepalive handled',
      'keepalive denied: not an incident',
    ]);
  });

  it('case 53: metrics without a check pass a filter that reads them', async () => {
    await user.put('filters', 'c53', { action: 'allow', expressions: ['event.has_metrics && !event.has_check'] });
    await user.handler('c53', { filters: ['c53'] });
    const points = [{ name: 'x', value: 1.5, timestamp: 1_700_000_000, tags: [] }];
    const entity = agentEntity('c53');
    expect((await api.post('/ns/default/events', { entity, metrics: { handlers: ['c53'], points } })).status).to.equal(
      200,
    );
    await eventually(() => user.ran.includes('c53'), Boolean, { what: 'the handler of metrics' });
    expect(at(JSON.parse(user.input('c53') ?? ''), 'metrics', 'points')).to.have.lengthOf(1);
  });

  it('case 54: a thousand events to a handler that takes a second are all handled', async () => {
    const metadata = { name: 'c54', namespace: 'default', annotations: { 'mon.io/max-parallel': '100' } };
    const command = `echo >> ${user.path('c54')}; exec sleep 1`;
    await user.put('handlers', 'c54', { type: 'pipe', command, metadata });
    const names = Array.from({ length: EVENTS }, (_, n) => `c54-${n}`);
    const statuses = await Promise.all(
      names.map(async (name) => {
        const event = proxyEvent('web-54', name, { status: 1, handlers: ['c54'] });
        return (await api.put(`/ns/default/events/web-54/${name}`, event)).status;
      }),
    );
    expect(statuses.filter((status) => status !== 200)).to.deep.equal([]);
    const wait = { what: 'all runs', withinMs: 100_000, everyMs: 200 };
    await eventually(
      () => user.input('c54')?.length ?? 0,
      (length) => length === EVENTS,
      wait,
    );
  });

  it('case 55: a handler with a secret that does not exist does not run', async () => {
    await user.handler('c55', { secrets: [{ name: 'TOKEN', secret: 'c55-none' }] });
    await user.event('c55', { handlers: ['c55'] });
    const reason = 'handler "c55": secret "c55-none": invalid secret info: c55-none';
    expect(await user.outcomeLines('c55', 1)).to.deep.equal([`c55 skipped: ${reason}`]);
    expect(user.input('c55')).to.equal(undefined);
  });

  it('case 55: an agent without mutual TLS receives a check without its secrets', async () => {
    const metadata = { name: 'c55', namespace: 'default' };
    const spec = { id: 'MON_SECRET_C55', provider: 'env' };
    const secret = { type: 'Secret', api_version: 'secrets/v1', metadata, spec };
    const path = '/api/enterprise/secrets/v1/namespaces/default/secrets/c55';
    expect((await api.put(path, secret)).status).to.equal(201);
    const agent = await registered('c55', { subscriptions: ['c55', 'entity:c55'] });
    const secrets = [{ name: 'TOKEN', secret: 'c55' }];
    await user.put('checks', 'c55', { command: 'true', interval: 3_600, subscriptions: ['c55'], secrets });
    expect((await api.post('/ns/default/checks/c55/execute', {})).status).to.equal(202);
    const request = await eventually(async () => {
      const frame = await agent.nextFrame();
      return frame.type === 'check_request' ? jsonOf(frame) : undefined;
    });
    expect(at(request, 'config', 'secrets')).to.deep.equal(secrets);
    expect(request).not.to.have.property('secrets');
  });

  it('case 56: the next event after a silence carries it, and not_silenced denies it by its name', async () => {
    await user.handler('c56', { filters: ['not_silenced'] });
    await user.event('c56', { handlers: ['c56'] });
    await user.outcomes('c56', 1);
    const silence = { subscription: 'entity:web-01', check: 'c56' };
    const name = 'entity:web-01:c56';
    await user.put('silenced', name, silence);
    await user.event('c56', { handlers: ['c56'] });
    expect(await user.outcomeLines('c56', 2)).to.deep.equal(['c56 handled', `c56 denied: silenced by ${name}`]);
    expect(at(await api.event('web-01', 'c56'), 'check', 'silenced')).to.deep.equal([name]);
  });
});
