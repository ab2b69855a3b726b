import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { BackendConfig } from '../../../src/config/backend.ts';
import type { AgentClient } from '../../support/agent-client.ts';
import type { ApiClient } from '../../support/api-client.ts';
import { eventually } from '../../support/eventually.ts';
import { agentEntity, checkEvent, keepalive } from '../../support/example-events.ts';
import { at } from '../../support/json-path.ts';
import { ReportingAgent } from '../../support/reporting-agent.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';

type Json = Record<string, unknown>;
type Policy = NonNullable<BackendConfig['agentEventsPolicy']>;

const MANAGED = { status: 409, json: { message: 'entity is managed by its agent', code: 3 } };

describe('an entity', () => {
  let backend: RestartableBackend;
  let api: ApiClient;

  async function start(agentEventsPolicy?: Policy): Promise<void> {
    const changes = agentEventsPolicy === undefined ? {} : { agentEventsPolicy };
    backend = await RestartableBackend.start({ configure: (config) => ({ ...config, ...changes }) });
    api = await backend.login();
  }

  afterEach(() => backend.stop());

  const entityPath = (name: string): string => `/ns/default/entities/${name}`;
  const labelsOf = async (name: string): Promise<unknown> => at(await api.entity(name), 'metadata', 'labels');

  /** The configuration that an agent reports. */
  const labelled = (name: string, labels: Json): Json => ({ metadata: { name, namespace: 'default', labels } });

  async function put(name: string, entity: Json): Promise<unknown> {
    const { status, json } = await api.put(entityPath(name), { metadata: { name, namespace: 'default' }, ...entity });
    return { status, json };
  }

  describe('that its agent manages', () => {
    beforeEach(() => start());

    const OWN = { 'sensu.io/managed_by': 'sensu-agent' };

    async function managed(name: string, labels: Json): Promise<ReportingAgent> {
      const agent = await ReportingAgent.connect(backend, name);
      await agent.keepalive({ entity: labelled(name, { ...OWN, ...labels }) });
      return agent;
    }

    it('case 34: takes its configuration from the first keepalive of a connection only', async () => {
      const first = await managed('own-m', { v: '1' });
      expect(await labelsOf('own-m')).to.deep.equal({ ...OWN, v: '1' });
      await first.keepalive({ sequence: 2, entity: labelled('own-m', { ...OWN, v: '2' }) });
      expect(await labelsOf('own-m')).to.deep.equal({ ...OWN, v: '1' });
      await first.vanish();
      await managed('own-m', { v: '3' });
      expect(await labelsOf('own-m')).to.deep.equal({ ...OWN, v: '3' });
    });

    it('sends nothing to an agent that reports the same configuration again', async () => {
      const agent = await managed('own-m', { v: '1' });
      await agent.socket.next('entity_config');
      await agent.keepalive({ entity: labelled('own-m', { ...OWN, v: '1' }) });
      expect(agent.socket.waitingFrames).to.deep.equal([]);
      const changes = await api.ledger({ actor: 'entities', key: 'default/own-m' });
      expect(changes.map(({ event }) => event)).to.deep.equal(['resource.created']);
    });

    for (const [label, agent] of [
      ['sensu.io/managed_by', 'sensu-agent'],
      ['sensu.io/managed_by', 'mon-agent'],
      ['mon.io/managed_by', 'mon-agent'],
    ] as const) {
      it(`case 34: refuses changes by others (${label}: ${agent}), and their claim to manage it`, async () => {
        const own = { metadata: { name: 'own-m', namespace: 'default', labels: { [label]: agent } } };
        expect(await put('own-m', { entity_class: 'agent', ...own })).to.deep.equal(MANAGED);
        expect((await api.post('/ns/default/entities', { entity_class: 'agent', ...own })).status).to.equal(200);
        for (const entityClass of ['agent', 'proxy']) {
          expect(await put('own-m', { entity_class: entityClass })).to.deep.equal(MANAGED);
        }
        expect((await api.delete(entityPath('own-m'))).status).to.equal(204);
      });
    }

    it('refuses a PUT that overtakes its registration', async () => {
      const agent = await ReportingAgent.connect(backend, 'own-race');
      const held = backend.store.hold();
      agent.socket.send('keepalive', keepalive('own-race', { entity: labelled('own-race', OWN), timestamp: 1 }));
      await held;
      const answer = put('own-race', { entity_class: 'agent' });
      backend.store.release();
      expect(await answer).to.deep.equal(MANAGED);
    });

    it('belongs to the backend again when the agent no longer claims it', async () => {
      const agent = await managed('own-m', { v: '1' });
      await agent.keepalive({ sequence: 2, entity: labelled('own-m', { v: '4' }) });
      expect(await labelsOf('own-m')).to.deep.equal({ v: '4' });
      expect(await put('own-m', { entity_class: 'agent', subscriptions: ['o'] })).to.have.property('status', 200);
      await agent.keepalive({ sequence: 1, entity: labelled('own-m', { v: '5' }) });
      expect(await labelsOf('own-m')).to.equal(undefined);
    });

    it('is taken over by an agent that begins to claim it', async () => {
      const agent = await ReportingAgent.connect(backend, 'own-m');
      await agent.keepalive();
      expect(await put('own-m', { entity_class: 'agent', subscriptions: ['db'] })).to.have.property('status', 200);
      await agent.keepalive({ sequence: 1, entity: labelled('own-m', { ...OWN, v: '1' }) });
      expect(await labelsOf('own-m')).to.deep.equal({ ...OWN, v: '1' });
      expect(at(await api.entity('own-m'), 'subscriptions')).to.deep.equal(['entity:own-m']);
    });
  });

  describe('of a connected agent', () => {
    beforeEach(() => start());

    const classOf = async (name: string): Promise<unknown> => at(await api.entity(name), 'entity_class');

    it('case 15: stays of class agent when it is edited to be a proxy, and its agent is notified once', async () => {
      const agent = await ReportingAgent.connect(backend, 'own-c');
      await agent.keepalive();
      await agent.socket.next('entity_config');
      expect(await put('own-c', { entity_class: 'proxy', subscriptions: ['s1'] })).to.have.property('status', 200);
      const config = await agent.socket.next('entity_config');
      expect(config).to.deep.include({ entity_class: 'agent', subscriptions: ['s1', 'entity:own-c'] });
      expect(await api.entity('own-c')).to.deep.include({ entity_class: 'agent', last_seen: 0 });
      await agent.socket.ping('all sent');
      expect(agent.socket.waitingFrames).to.deep.equal([]);
      await agent.keepalive({ sequence: 2 });
      expect(at(await api.entity('own-c'), 'last_seen')).to.equal(backend.nowS);
    });

    it('is created with class agent, whatever was requested', async () => {
      const agent = await ReportingAgent.connect(backend, 'own-c');
      expect(await put('own-c', { entity_class: 'proxy' })).to.have.property('status', 200);
      expect(await agent.socket.next('entity_config')).to.have.property('entity_class', 'agent');
      expect(await classOf('own-c')).to.equal('agent');
    });

    it('gets class agent when the agent connects, which is recorded in the ledger', async () => {
      await put('own-c', { entity_class: 'proxy', subscriptions: ['zz'] });
      const agent = await backend.connect({ name: 'own-c' });
      await eventually(
        () => classOf('own-c'),
        (found) => found === 'agent',
      );
      expect(agent.isOpen).to.equal(true);
      const changes = await api.ledger({ actor: 'entities', key: 'default/own-c' });
      expect(changes.map(({ event, cause }) => [event, Object.keys(cause)])).to.deep.equal([
        ['resource.created', ['user']],
        ['resource.updated', ['session']],
      ]);
    });

    it('may become a proxy after the agent disconnected', async () => {
      const agent = await ReportingAgent.connect(backend, 'own-c');
      await agent.keepalive();
      await agent.vanish();
      expect(await put('own-c', { entity_class: 'proxy' })).to.have.property('status', 200);
      expect(await classOf('own-c')).to.equal('proxy');
    });
  });

  describe('in the events of an agent', () => {
    const WRITER = 'own-writer';

    /** The events that the agent may send under each policy. */
    const cases: [what: string, event: () => Json, entity: string, allowed: Policy[]][] = [
      ['its own entity', () => checkEvent(WRITER, 'c'), WRITER, ['own', 'own-and-proxies', 'any']],
      [
        'a proxy entity that exists',
        () => checkEvent(WRITER, 'c', { proxy_entity_name: 'own-proxy' }),
        'own-proxy',
        ['own-and-proxies', 'any'],
      ],
      [
        'a new proxy entity',
        () => checkEvent(WRITER, 'c', { proxy_entity_name: 'own-new' }),
        'own-new',
        ['own-and-proxies', 'any'],
      ],
      ['a name that is not registered', () => checkEvent('own-nobody', 'c'), 'own-nobody', ['own-and-proxies', 'any']],
      ['another agent', () => checkEvent('own-victim', 'c'), 'own-victim', ['any']],
      [
        'another agent as if it were a proxy',
        () => checkEvent('own-victim', 'c', {}, { entity: agentEntity('own-victim', { entity_class: 'proxy' }) }),
        'own-victim',
        ['any'],
      ],
      [
        'another agent by the name of a proxy',
        () => checkEvent(WRITER, 'c', { proxy_entity_name: 'own-victim' }),
        'own-victim',
        ['any'],
      ],
    ];

    const policies: Policy[] = ['own', 'own-and-proxies', 'any'];
    for (const policy of policies) {
      it(`may be, under the policy ${policy}: ${cases
        .filter(([, , , allowed]) => allowed.includes(policy))
        .map(([what]) => what)
        .join(', ')}`, async () => {
        await start(policy);
        const victim = await ReportingAgent.connect(backend, 'own-victim');
        await victim.keepalive();
        await put('own-proxy', { entity_class: 'proxy' });
        const writer = await writing();
        for (const [what, event, entity, allowed] of cases) {
          await api.delete(`/ns/default/events/${entity}/c`);
          await say(writer, event());
          const stored = await api.event(entity, 'c');
          expect(stored !== undefined, what).to.equal(allowed.includes(policy));
        }
      });
    }

    it('may be any entity of its namespace by default', async () => {
      await start();
      const victim = await ReportingAgent.connect(backend, 'own-victim');
      await victim.keepalive();
      await say(await writing(), checkEvent('own-victim', 'c'));
      expect(await api.event('own-victim', 'c')).to.not.equal(undefined);
    });

    it('is checked in metrics as in events', async () => {
      await start('own-and-proxies');
      const victim = await ReportingAgent.connect(backend, 'own-victim');
      await victim.keepalive();
      const writer = await writing();
      const { check: _, ...metrics } = checkEvent('own-victim', 'c', {}, { metrics: { handlers: [], points: [] } });
      await say(writer, metrics);
      expect(await refusedOf(WRITER)).to.deep.include({ refused: 1 });
    });

    it('is refused with an acknowledgement, a count, a listing, and one record for each reason', async () => {
      await start('own-and-proxies');
      const victim = await ReportingAgent.connect(backend, 'own-victim');
      await victim.keepalive();
      const writer = await backend.connect({ name: WRITER, queueId: randomUUID() });
      for (const n of [1, 2, 3]) writer.send(`event ${n}`, checkEvent('own-victim', 'c'));
      writer.send('event 4', { ...checkEvent(WRITER, 'c'), metadata: { namespace: 'elsewhere' } });
      writer.send('keepalive', keepalive('own-victim', { timestamp: backend.nowS }));
      writer.send('event 5', checkEvent('own-victim', 'd'));
      await eventually(() => writer.waitingFrames.at(-1)?.payload.toString() === '5', Boolean, { what: 'all acks' });
      const shown = await refusedOf(WRITER);
      expect(shown).to.deep.include({ refused: 6 });
      expect(at(shown, 'last_refusal', 'reason')).to.equal(
        'entity own-victim belongs to another agent (agent-events-policy is own-and-proxies)',
      );
      const entries = await api.ledger({ actor: 'agent', key: `default/${WRITER}` });
      expect(entries.map(({ event, cause, details }) => [event, Object.keys(cause), details])).to.deep.equal([
        ['write.refused', ['session'], { reason: 'entity', claimed: 'own-victim' }],
        ['write.refused', ['session'], { reason: 'namespace', claimed: 'elsewhere' }],
        ['write.refused', ['session'], { reason: 'keepalive', claimed: 'own-victim' }],
      ]);
    });

    it('is refused with a new record on the next connection', async () => {
      await start('own');
      for (let n = 0; n < 2; n += 1) {
        const writer = await writing();
        await say(writer, checkEvent('own-victim', 'c'));
        await writer.disconnect();
      }
      expect(await api.ledger({ actor: 'agent', key: `default/${WRITER}` })).to.have.lengthOf(2);
    });

    const writing = (): Promise<AgentClient> => backend.connect({ name: WRITER });

    /** Sends the event; it is decided and durable when the promise resolves. */
    async function say(writer: AgentClient, event: Json): Promise<void> {
      writer.send('event', event);
      await writer.ping(randomUUID());
      await backend.clock.settle();
    }

    async function refusedOf(agent: string): Promise<Json | undefined> {
      const sessions = (await api.get('/api/mon/v1/sessions')).json as Json[];
      return sessions.find((session) => session['agent'] === agent);
    }
  });
});
