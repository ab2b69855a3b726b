import { expect } from 'chai';
import type { ApiClient } from '../../support/api-client.ts';
import { eventually } from '../../support/eventually.ts';
import { agentEntity } from '../../support/example-events.ts';
import { perSuite, perTest } from '../../support/fixture.ts';
import { HandlerSink } from '../../support/handler-sink.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';
import { ReportingAgent } from '../../support/reporting-agent.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';

type Json = Record<string, unknown>;

const FOR_EVER = { timeout: 3_600 };
const LINUX = { subscriptions: ['linux'] };
const path = (name: string, namespace = 'default'): string => `/ns/${namespace}/silenced/${encodeURIComponent(name)}`;

describe('silences', () => {
  const backend = perSuite(() => RestartableBackend.start());
  let api: ApiClient;
  let tap: HandlerSink;

  before(async () => {
    api = await backend.login();
    tap = await HandlerSink.listen();
    for (const name of ['tap', 'registration']) await handler(name);
  });

  after(() => tap.close());

  afterEach(async () => {
    const { json } = await api.get('/api/core/v2/silenced');
    for (const { metadata } of json as { metadata: { name: string; namespace: string } }[]) {
      await api.delete(path(metadata.name, metadata.namespace));
    }
  });

  async function handler(name: string): Promise<void> {
    const socket = { host: '127.0.0.1', port: tap.port };
    const body = { metadata: { name, namespace: 'default' }, type: 'tcp', socket, filters: ['not_silenced'] };
    expect(await api.put(`/ns/default/handlers/${name}`, body)).to.have.property('status', 201);
  }

  async function silenced(name: string, fields: Json, namespace = 'default'): Promise<void> {
    const { status, text } = await api.put(path(name, namespace), { metadata: { name, namespace }, ...fields });
    expect(status, text).to.equal(201);
  }

  /** A registered agent whose keepalives last for the whole test. */
  async function agentWith(name: string, subscriptions: string[] = []): Promise<ReportingAgent> {
    const agent = await ReportingAgent.connect(backend, name, { subscriptions });
    await agent.keepalive({ ...FOR_EVER, entity: agentOf(name, subscriptions) });
    return agent;
  }

  const agentOf = (name: string, subscriptions: string[]): Json =>
    agentEntity(name, { subscriptions: [...subscriptions, `entity:${name}`] });

  /** The silences of the stored event. */
  async function silencing(entity: string, check: string): Promise<unknown> {
    const event = await api.event(entity, check);
    const names = at(event, 'check', 'silenced') ?? [];
    expect(at(event, 'check', 'is_silenced')).to.equal((names as string[]).length > 0);
    return names;
  }

  const entries = async (name: string) =>
    (await api.ledger({ actor: 'silence', key: `default/${name}` })).map(({ from, event, to }) => [from, event, to]);
  const statusOf = async (name: string) => (await api.get(path(name))).status;

  /** The outputs that the handler has received, once it has received this one. */
  async function handledUpTo(output: string): Promise<unknown[]> {
    const outputs = () => tap.events.map((event) => at(event, 'check', 'output'));
    return eventually(outputs, (found) => found.includes(output), { what: `${output} at the handler` });
  }

  it('case 56: for an entity and a check mark its events, which are stored and not handled', async () => {
    const agent = await agentWith('web-01');
    await silenced('entity:web-01:disk', { subscription: 'entity:web-01', check: 'disk' });
    await agent.result('disk', { status: 1, output: 'hidden', handlers: ['tap'] });
    expect(await silencing('web-01', 'disk')).to.deep.equal(['entity:web-01:disk']);
    expect(at(await api.event('web-01', 'disk'), 'check')).to.include({ status: 1, output: 'hidden', occurrences: 1 });
    const [failing] = await api.ledger({ actor: 'check-state', key: 'default/web-01/disk' });
    const details = { status: 1, occurrences: 1, silenced: ['entity:web-01:disk'], output: 'hidden' };
    expect(failing?.details).to.deep.equal(details);

    expect(await api.delete(path('entity:web-01:disk'))).to.have.property('status', 204);
    await agent.result('disk', { status: 1, output: 'seen', handlers: ['tap'] });
    expect(await silencing('web-01', 'disk')).to.deep.equal([]);
    expect(await handledUpTo('seen')).to.not.include('hidden');
  });

  it('case 57: for a check of all entities, or a subscription of both, apply to the very next event', async () => {
    const [one, two] = [await agentWith('both-1', ['linux']), await agentWith('both-2', ['web'])];
    await silenced('*:disk', { check: 'disk' });
    for (const agent of [one, two]) await agent.result('disk', { status: 1 });
    expect([await silencing('both-1', 'disk'), await silencing('both-2', 'disk')]).to.deep.equal([
      ['*:disk'],
      ['*:disk'],
    ]);

    expect(await api.delete(path('*:disk'))).to.have.property('status', 204);
    await silenced('linux:*', { subscription: 'linux' });
    await one.result('disk', LINUX, { entity: agentOf('both-1', ['linux']) });
    await two.result('disk', LINUX, { entity: agentOf('both-2', ['web']) });
    await one.result('load', {}, { entity: agentOf('both-1', ['linux']) });
    await one.keepalive({ ...FOR_EVER, entity: agentOf('both-1', ['linux']) });
    expect(await silencing('both-1', 'disk')).to.deep.equal(['linux:*']);
    for (const [entity, check] of [
      ['both-2', 'disk'],
      ['both-1', 'load'],
      ['both-1', 'keepalive'],
    ] as const) {
      expect(await silencing(entity, check), `${entity}/${check}`).to.deep.equal([]);
    }
  });

  it('case 58: do not apply before their begin and after their end', async () => {
    const agent = await agentWith('times');
    const { nowS } = backend;
    await silenced('*:future', { check: 'future', begin: nowS + 3_600 });
    await silenced('*:past', { check: 'past', begin: nowS - 100, expire: 2 });
    await silenced('*:over', { check: 'over', expire_at: nowS - 1 });
    for (const check of ['future', 'past', 'over']) {
      await agent.result(check, { status: 1 });
      expect(await silencing('times', check), check).to.deep.equal([]);
    }
    await backend.clock.advance(1);
    expect([await statusOf('*:future'), await statusOf('*:past'), await statusOf('*:over')]).to.deep.equal([
      200, 404, 404,
    ]);
    expect(await entries('*:past')).to.deep.equal([
      [null, 'silence.created', 'active'],
      ['active', 'expiry.reached', null],
    ]);
  });

  it('case 59: with expire_on_resolve end with the event that resolves, which is handled', async () => {
    const agent = await agentWith('solved');
    const solving = { subscription: 'entity:solved', check: 'disk', expire_on_resolve: true };
    await silenced('entity:solved:disk', solving);
    await silenced('entity:solved:load', { subscription: 'entity:solved', check: 'load' });
    const result = (check: string, status: number, output: string) =>
      agent.result(check, { status, output, handlers: ['tap'] });
    await result('disk', 0, 'fine');
    await result('disk', 2, 'bad');
    await result('disk', 1, 'better');
    expect(await silencing('solved', 'disk')).to.deep.equal(['entity:solved:disk']);
    await result('disk', 0, 'solved');
    expect(await silencing('solved', 'disk')).to.deep.equal([]);
    expect(await statusOf('entity:solved:disk')).to.equal(404);
    expect(await handledUpTo('solved')).to.not.include.members(['fine', 'bad', 'better']);

    await result('load', 2, 'loaded');
    await result('load', 0, 'unloaded');
    expect(await silencing('solved', 'load')).to.deep.equal(['entity:solved:load']);
    const [, ended] = await api.ledger({ actor: 'silence', key: 'default/entity:solved:disk' });
    expect(ended).to.deep.include({ from: 'active', event: 'check.resolved', to: null });
    expect(ended?.details).to.deep.equal({ event: 'default/solved/disk', creator: 'admin' });
    expect(ended?.cause).to.have.property('eventId');
    await result('disk', 2, 'bad again');
    expect(await silencing('solved', 'disk')).to.deep.equal([]);
  });

  it('F23: apply from the first moment of their first second to the last moment of their last second', async () => {
    const agent = await agentWith('edge');
    const createdMs = backend.clock.nowMs();
    const begin = backend.nowS + 10;
    await silenced('*:edge', { check: 'edge', begin, expire: 5 });
    const expire_at = begin + 5;
    const silencedAt = async (ms: number): Promise<unknown> => {
      await backend.clock.advance(ms - backend.clock.nowMs());
      await agent.result('edge', { status: 1 });
      return silencing('edge', 'edge');
    };
    expect(await silencedAt(begin * 1_000 - 1)).to.deep.equal([]);
    expect(await silencedAt(begin * 1_000)).to.deep.equal(['*:edge']);
    expect(await silencedAt(expire_at * 1_000 + 999)).to.deep.equal(['*:edge']);
    expect(await statusOf('*:edge')).to.equal(200);
    expect(await silencedAt(expire_at * 1_000 + 1_000)).to.deep.equal([]);
    expect(await statusOf('*:edge')).to.equal(404);

    const found = await api.ledger({ actor: 'silence', key: 'default/*:edge' });
    expect(found.map(({ from, event, to, atMs }) => [from, event, to, atMs])).to.deep.equal([
      [null, 'silence.created', 'pending', createdMs],
      ['pending', 'begin.reached', 'active', begin * 1_000],
      ['active', 'expiry.reached', null, expire_at * 1_000 + 1_000],
    ]);
    expect(found[1]?.cause).to.deep.equal({ deadlineAtMs: begin * 1_000 });
    expect(found[1]?.details).to.deep.equal({ begin, expire_at, creator: 'admin' });
    expect(found[2]?.cause).to.deep.equal({ deadlineAtMs: expire_at * 1_000 + 1_000 });
  });

  for (const [when, lateMs, end] of [
    ['the last moment of its last second', 999, 'check.resolved'],
    ['the moment after', 1_000, 'expiry.reached'],
  ] as const) {
    it(`F23: that can end by resolution and by time end with ${end} at ${when}`, async () => {
      const agent = await agentWith('tie');
      const check = `tie-${lateMs}`;
      const name = `*:${check}`;
      const expire_at = backend.nowS + 5;
      await silenced(name, { check, expire_at, expire_on_resolve: true });
      await agent.result(check, { status: 2 });
      await backend.clock.advance(expire_at * 1_000 + lateMs - backend.clock.nowMs());
      await agent.result(check, { status: 0 });
      expect(await silencing('tie', check)).to.deep.equal([]);
      await backend.clock.advance(5_000);
      expect((await entries(name)).slice(1)).to.deep.equal([['active', end, null]]);
    });
  }

  it('F23: survive a restart with the matches recorded so far', async () => {
    const { nowS } = backend;
    await silenced('*:begun', { check: 'begun', begin: nowS + 30 });
    await silenced('*:ended', { check: 'ended', expire: 30 });
    await silenced('*:missed', { check: 'missed', begin: nowS + 10, expire: 10 });
    await silenced('*:later', { check: 'later', begin: nowS + 90, expire: 10 });
    await backend.downFor(60_000);
    api = await backend.login();
    const agent = await agentWith('restarted');
    for (const [check, names] of [
      ['begun', ['*:begun']],
      ['ended', []],
      ['missed', []],
      ['later', []],
    ] as const) {
      await agent.result(check, { status: 1 });
      expect(await silencing('restarted', check), check).to.deep.equal(names);
    }
    await backend.clock.advance(30_000);
    await agent.result('later', { status: 1 });
    expect(await silencing('restarted', 'later')).to.deep.equal(['*:later']);
    await backend.clock.advance(11_000);
    expect(await entries('*:begun')).to.deep.equal([
      [null, 'silence.created', 'pending'],
      ['pending', 'begin.reached', 'active'],
    ]);
    expect((await entries('*:ended')).at(-1)).to.deep.equal(['active', 'expiry.reached', null]);
    expect((await entries('*:missed')).at(-1)).to.deep.equal(['pending', 'expiry.reached', null]);
    expect((await entries('*:later')).map(([, , to]) => to)).to.deep.equal(['pending', 'active', null]);
    expect(((await api.get('/ns/default/silenced')).json as unknown[]).length).to.equal(1);
  });

  it('are unchanged when the decision about them was lost', async () => {
    const agent = await agentWith('lost');
    await silenced('*:held', { check: 'held', expire: 60 });
    backend.store.failNextWrites(1);
    const entry = { metadata: { name: '*:load', namespace: 'default' }, check: 'load' };
    expect(await api.put(path('*:load'), entry)).to.have.property('status', 503);
    await backend.clock.advance(1_000);
    backend.store.failNextWrites(1);
    expect(await api.delete(path('*:held'))).to.have.property('status', 503);
    await backend.clock.advance(1_000);
    const again = await agentWith('lost-2');
    await again.result('load', { status: 1 });
    await again.result('held', { status: 1 });
    expect(await silencing('lost-2', 'load')).to.deep.equal([]);
    expect(await silencing('lost-2', 'held')).to.deep.equal(['*:held']);
    await backend.clock.advance(60_000);
    expect(await entries('*:held')).to.deep.equal([
      [null, 'silence.created', 'active'],
      ['active', 'expiry.reached', null],
    ]);
    agent.socket.terminate();
  });

  it('that end while the store cannot be written are expired, which is recorded when writes succeed again', async () => {
    await silenced('*:late', { check: 'late', expire: 2 });
    backend.store.failUntilHealed();
    await backend.clock.advance(10_000);
    expect(await statusOf('*:late')).to.equal(404);
    backend.store.heal();
    await backend.clock.advance(2_000);
    expect((await entries('*:late')).at(-1)).to.deep.equal(['active', 'expiry.reached', null]);
    await silenced('*:late', { check: 'late' });
    expect(await statusOf('*:late')).to.equal(200);
  });

  it('apply to the alerts of the backend: missing results and missing keepalives', async () => {
    const agent = await ReportingAgent.connect(backend, 'still');
    await agent.keepalive({ interval: 2, timeout: 10, entity: { keepalive_handlers: ['tap'] } });
    await agent.result('disk', { ttl: 5, interval: 1, handlers: ['tap'] });
    await agent.result('load', { ttl: 5, interval: 1, handlers: ['tap'] });
    await silenced('entity:still:disk', { subscription: 'entity:still', check: 'disk' });
    await silenced('entity:still:keepalive', { subscription: 'entity:still', check: 'keepalive' });
    await backend.clock.advance(5_000);
    expect(await silencing('still', 'disk')).to.deep.equal(['entity:still:disk']);
    expect(at(await api.event('still', 'disk'), 'check', 'status')).to.equal(1);
    expect(await silencing('still', 'load')).to.deep.equal([]);
    const handled = await handledUpTo('Last check execution was 5 seconds ago');
    expect(handled.filter((output) => output === 'Last check execution was 5 seconds ago')).to.have.length(1);

    await backend.clock.advance(5_000);
    expect(at(await api.event('still', 'keepalive'), 'check', 'status')).to.equal(1);
    expect(await silencing('still', 'keepalive')).to.deep.equal(['entity:still:keepalive']);
  });

  describe('of an entity that is deleted', () => {
    const leaving = (name: string) => ({
      interval: 2,
      timeout: 5,
      entity: { deregister: true, deregistration: { handler: 'tap' }, metadata: { name, namespace: 'default' } },
    });

    async function silencedAround(name: string): Promise<void> {
      for (const subscription of [`entity:${name}`, `entity:${name}0`, 'linux']) {
        await silenced(`${subscription}:*`, { subscription });
      }
      await silenced(`entity:${name}:disk`, { subscription: `entity:${name}`, check: 'disk' });
      await silenced(`entity:${name}:more`, { subscription: 'entity', check: `${name}:more` });
    }

    const namesLeft = async () =>
      ((await api.get('/ns/default/silenced')).json as Json[]).map((entry) => at(entry, 'metadata', 'name'));

    it('through the API end with it, and no others', async () => {
      await agentWith('gone');
      await silencedAround('gone');
      expect(await api.delete('/ns/default/entities/gone')).to.have.property('status', 204);
      expect(await namesLeft()).to.deep.equal(['entity:gone0:*', 'entity:gone:more', 'linux:*']);
      expect((await entries('entity:gone:disk')).at(-1)).to.deep.equal(['active', 'entity.deleted', null]);
    });

    it('by deregistration apply to its last event and end with it', async () => {
      const quiet = await ReportingAgent.connect(backend, 'quiet');
      await quiet.keepalive(leaving('quiet'));
      await silencedAround('quiet');
      const loud = await ReportingAgent.connect(backend, 'loud');
      await loud.keepalive(leaving('loud'));
      await backend.clock.advance(5_000);
      expect([await api.entity('quiet'), await api.entity('loud')]).to.deep.equal([undefined, undefined]);
      expect(await namesLeft()).to.deep.equal(['entity:quiet0:*', 'entity:quiet:more', 'linux:*']);
      expect((await entries('entity:quiet:*')).at(-1)).to.deep.equal(['active', 'entity.deregistered', null]);

      const left = () => tap.events.filter((event) => at(event, 'check', 'metadata', 'name') === 'deregistration');
      const [event] = await eventually(left, (found) => found.length > 0, { what: 'the event of the agent that left' });
      expect(at(event, 'entity', 'metadata', 'name')).to.equal('loud');
      expect(left()).to.have.length(1);
    });
  });

  it('do not apply to the registration of an agent', async () => {
    await silenced('*:registration', { check: 'registration' });
    await silenced('entity:new:*', { subscription: 'entity:new' });
    await agentWith('new');
    const namesOf = (event: unknown) => ['entity', 'check'].map((part) => at(event, part, 'metadata', 'name'));
    const registrations = () => tap.events.filter((event) => namesOf(event).join() === 'new,registration');
    await eventually(registrations, (found) => found.length === 1, { what: 'the registration at its handler' });
  });

  it('apply in their namespace, and prevent its deletion', async () => {
    expect(await api.put('/api/core/v2/namespaces/dev', { name: 'dev' })).to.have.property('status', 201);
    await silenced('*:disk', { check: 'disk' }, 'dev');
    const [here, there] = [
      await ReportingAgent.connect(backend, 'here'),
      await ReportingAgent.connect(backend, 'there', { namespace: 'dev' }),
    ];
    for (const agent of [here, there]) await agent.result('disk', { status: 1 });
    expect(await silencing('here', 'disk')).to.deep.equal([]);
    expect(at(await api.event('there', 'disk', 'dev'), 'check', 'silenced')).to.deep.equal(['*:disk']);
    const refused = await api.delete('/api/core/v2/namespaces/dev');
    expect([refused.status, at(refused.json, 'message')]).to.deep.equal([
      400,
      'resource is invalid: namespace is not empty',
    ]);
    expect(await api.delete(path('*:disk', 'dev'))).to.have.property('status', 204);
    expect(await api.delete('/api/core/v2/namespaces/dev')).to.have.property('status', 204);
  });

  it('ignore events with fields that cannot be names', async () => {
    const agent = await agentWith('odd');
    await silenced('*:disk', { check: 'disk' });
    const subscriptions = ['x'.repeat(5_000), 'a/b', ' '];
    const entity = agentOf('odd', subscriptions);
    await agent.result('disk', { subscriptions, status: 1 }, { entity });
    expect(await silencing('odd', 'disk')).to.deep.equal(['*:disk']);
  });

  it('are recorded in the ledger with the user and the changed members', async () => {
    await silenced('*:told', { check: 'told', reason: 'first' });
    await silenced('*:told', { check: 'told', reason: 'second', begin: backend.nowS + 60 });
    await silenced('*:told', { check: 'told', reason: 'second', begin: backend.nowS + 70 });
    await api.delete(path('*:told'));
    const changes = await api.ledger({ actor: 'silenced', key: 'default/*:told' });
    expect(changes.map(({ event, cause, details }) => [event, cause, details])).to.deep.equal([
      ['resource.created', { user: 'admin' }, { changed: [] }],
      ['resource.updated', { user: 'admin' }, { changed: ['reason', 'begin'] }],
      ['resource.updated', { user: 'admin' }, { changed: ['begin'] }],
      ['resource.deleted', { user: 'admin' }, { changed: [] }],
    ]);
    expect(await entries('*:told')).to.deep.equal([
      [null, 'silence.created', 'active'],
      ['active', 'silence.updated', 'pending'],
      ['pending', 'silence.updated', 'pending'],
      ['pending', 'silence.deleted', null],
    ]);
  });

  it('are created once when several requests create the same one at the same time', async () => {
    const entry = { metadata: { namespace: 'default' }, subscription: 'race' };
    const answers = await Promise.all(Array.from({ length: 12 }, () => api.post('/ns/default/silenced', entry)));
    expect(answers.map(({ status }) => status)).to.have.members([201, ...Array<number>(11).fill(409)]);
  });
});

describe('silences of a backend whose clock is changed', () => {
  const backend = perTest(() => RestartableBackend.start());
  const api = perTest(() => backend.login());

  async function silencedNow(): Promise<boolean> {
    const agent = await ReportingAgent.connect(backend, 'set');
    await agent.result('disk', { status: 1 });
    return at(await api.event('set', 'disk'), 'check', 'is_silenced') === true;
  }

  const transitions = async () => (await api.ledger({ actor: 'silence' })).map(({ event }) => event);

  it('are over immediately when it is set past their end', async () => {
    const entry = { metadata: { namespace: 'default' }, check: 'disk', expire: 600 };
    expect(await api.post('/ns/default/silenced', entry)).to.have.property('status', 201);
    expect(await silencedNow()).to.equal(true);
    backend.clock.jump(3_600_000);
    expect(await silencedNow()).to.equal(false);
    await backend.clock.advance(10_000);
    expect(await transitions()).to.deep.equal(['silence.created', 'expiry.reached']);
  });

  it('do not apply while it is set before their begin, which is recorded once', async () => {
    const begin = backend.nowS + 10;
    const entry = { metadata: { namespace: 'default' }, check: 'disk', begin, expire: 30 };
    expect(await api.post('/ns/default/silenced', entry)).to.have.property('status', 201);
    await backend.clock.advance(10_000);
    expect(await silencedNow()).to.equal(true);
    backend.clock.jump(-600_000);
    expect(await silencedNow()).to.equal(false);
    await backend.clock.advance(600_000);
    expect(await silencedNow()).to.equal(true);
    await backend.clock.advance(60_000);
    expect(await silencedNow()).to.equal(false);
    expect(await transitions()).to.deep.equal(['silence.created', 'begin.reached', 'expiry.reached']);
  });
});

describe('silences of a backend that matches entity subscriptions', () => {
  it('apply to any subscription of the entity', async () => {
    const backend = await InProcessBackend.start({
      configure: (config) => ({ ...config, silenceMatchEntitySubscriptions: true }),
    });
    try {
      const api = await backend.login();
      const entry = { metadata: { namespace: 'default' }, subscription: 'linux' };
      expect(await api.post('/ns/default/silenced', entry)).to.have.property('status', 201);
      const metadata = { name: 'held', namespace: 'default' };
      const entity = { entity_class: 'agent', metadata, subscriptions: ['linux'] };
      const check = { metadata: { name: 'disk', namespace: 'default' }, interval: 60, status: 1 };
      expect(await api.put('/ns/default/events/held/disk', { entity, check })).to.have.property('status', 200);
      expect(at(await api.event('held', 'disk'), 'check', 'silenced')).to.deep.equal(['linux:*']);
    } finally {
      await backend.stop();
    }
  });
});
