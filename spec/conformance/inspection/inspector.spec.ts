import { hashSync } from '@node-rs/bcrypt';
import { expect } from 'chai';
import { createMachine } from 'xstate';
import { MACHINES, type Machines } from '../../../src/actors/core/machines.ts';
import type { BackendConfig } from '../../../src/config/backend.ts';
import { basicHeader, type Credentials } from '../../../src/wire/handshake.ts';
import { HandshakeRefused } from '../../support/agent-client.ts';
import { type ApiAnswer, ApiClient } from '../../support/api-client.ts';
import { eventually } from '../../support/eventually.ts';
import {
  type InspectMessage,
  InspectorClient,
  type InspectQuery,
  inspectUrl,
  outline,
  receiveMessages,
  ticketOf,
} from '../../support/inspector-client.ts';
import { at } from '../../support/json-path.ts';
import { ReportingAgent } from '../../support/reporting-agent.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';

const ENTITY = 'entity:default/web-01';
const CHECK_TTL = 'check-ttl:default/web-01/disk';
const SECOND_HASH = hashSync('second-pass', { cost: 4 });
const TIMING = { interval: 5, timeout: 30, ttl: 60 };

describe('the inspector', () => {
  let backend: RestartableBackend;
  let admin: ApiClient;
  let agent: ReportingAgent;

  async function start(change: Partial<BackendConfig> = {}, machines: Machines = MACHINES): Promise<void> {
    backend = await RestartableBackend.start({
      machines,
      configure: (config) => ({ ...config, inspect: true, ...change }),
    });
    admin = await backend.login();
    agent = await ReportingAgent.connect(backend, 'web-01');
    await agent.keepalive(TIMING);
  }

  afterEach(() => backend.stop());

  const urlFor = async (query: InspectQuery): Promise<string> =>
    inspectUrl(backend.apiPort, { ticket: await ticketOf(admin), ...query });
  const inspect = async (query: InspectQuery): Promise<InspectorClient> => InspectorClient.connect(await urlFor(query));

  const validationErrorOf = async (url: string): Promise<HandshakeRefused> => {
    try {
      const inspector = await InspectorClient.connect(url);
      await inspector.leave();
    } catch (error) {
      if (error instanceof HandshakeRefused) return error;
      throw error;
    }
    throw new Error('the inspector was let in');
  };

  /** Connects an inspector and waits for the current snapshots of its actors. */
  async function watching(...actors: string[]): Promise<InspectorClient> {
    const inspector = await inspect({ actors });
    await inspector.has(actors.length);
    return inspector;
  }

  /** Keeps the agent silent until the entity is critical, then sends a keepalive. */
  async function outage(): Promise<void> {
    await backend.clock.advance(60_000);
    await agent.keepalive(TIMING);
  }
  const OUTAGE = [
    'event deadline.reached',
    'snapshot deadline.reached warning',
    'event deadline.reached',
    'snapshot deadline.reached critical',
    'event keepalive.received',
    'snapshot keepalive.received registered.monitored',
  ];
  /** The message as it follows from the ledger, which contains top-level states only. */
  const PAST_OUTAGE = OUTAGE.map((line) => line.replace('.monitored', ''));

  for (const [what, maxAwakeActors] of [
    ['awake', 1_000],
    ['that is evicted after every event', 1],
  ] as const) {
    it(`sends the receiver of @statelyai/inspect an actor ${what}: one registration, then events and snapshots in order`, async () => {
      await start({ maxAwakeActors });
      const received = receiveMessages(await urlFor({ actors: [ENTITY] }));
      await eventually(() => received.length === 1);
      await agent.keepalive(TIMING);
      // Other inspectors connect and disconnect meanwhile.
      await agent.result('disk', { ttl: 100, interval: 5 });
      await agent.result('load', { ttl: 100, interval: 5 });
      await outage();
      await eventually(() => received.length >= 9);
      expect(outline(received)).to.deep.equal([
        'actor registered.monitored',
        'event keepalive.received',
        'snapshot keepalive.received registered.monitored',
        ...OUTAGE,
      ]);
      expect(new Set(received.map((message) => message['sessionId']))).to.deep.equal(new Set([ENTITY]));
    });
  }

  it('case 30: sends messages in the format of the hosted inspector', async () => {
    await start();
    const inspector = await watching(ENTITY);
    await agent.keepalive(TIMING);
    const [registered, event, snapshot] = await inspector.has(3);
    const common = { _version: '0.7.2', id: null, rootId: 'mon', sessionId: ENTITY };
    const createdAt = String(backend.clock.nowMs());
    const atMs = at(event, 'event', 'atMs');
    const context = { key: 'default/web-01', warningMs: 30_000, criticalMs: 60_000, intervalMs: 5_000, tickMs: 30_000 };
    const still = { status: 'active', value: { registered: 'monitored' }, children: {}, historyValue: {}, tags: [] };
    const { definition, snapshot: first, seq: _first, ...actor } = registered ?? {};
    expect(JSON.parse(String(definition))).to.deep.include({ id: 'entity', initial: 'registered' });
    expect(actor).to.deep.equal({ type: '@xstate.actor', ...common, createdAt, name: 'default/web-01' });
    const { context: shown, ...registration } = first as InspectMessage;
    expect(registration).to.deep.equal(still);
    expect(shown).to.deep.include({ ...context, lastReceivedAtMs: atMs });
    const { event: received, seq: _second, ...sentEvent } = event ?? {};
    expect(sentEvent).to.deep.equal({ type: '@xstate.event', ...common, createdAt });
    expect(received).to.deep.include({ type: 'keepalive.received', warningMs: 30_000, criticalMs: 60_000, atMs });
    const { seq: _third, ...stood } = snapshot ?? {};
    expect(stood).to.deep.equal({ type: '@xstate.snapshot', ...common, createdAt, event: received, snapshot: first });
  });

  it('sends the messages of several actors in the order in which they occur', async () => {
    await start();
    await agent.result('disk', { ttl: 10, interval: 5 });
    const inspector = await watching(CHECK_TTL, ENTITY);
    await agent.result('disk', { ttl: 10, interval: 5 });
    await agent.keepalive(TIMING);
    await backend.clock.advance(10_000);
    const messages = await inspector.has(8);
    expect(
      messages.slice(2).map((message) => `${String(message['sessionId'])} ${outline([message])[0]}`),
    ).to.deep.equal([
      `${CHECK_TTL} event result.received`,
      `${CHECK_TTL} snapshot result.received registered`,
      `${ENTITY} event keepalive.received`,
      `${ENTITY} snapshot keepalive.received registered.monitored`,
      `${CHECK_TTL} event deadline.reached`,
      `${CHECK_TTL} snapshot deadline.reached warning`,
    ]);
  });

  it('registers an actor when it is created, reports its end, and registers the next actor of its key', async () => {
    await start();
    const inspector = await inspect({ actors: [CHECK_TTL] });
    await agent.result('disk', { ttl: 10, interval: 5 });
    await agent.result('disk', { ttl: 0, interval: 5 });
    await agent.result('disk', { ttl: 10, interval: 5 });
    const messages = await inspector.has(4);
    expect(outline(messages)).to.deep.equal([
      'actor registered',
      'event result.received',
      'snapshot result.received deregistered',
      'actor registered',
    ]);
    expect(at(messages[2], 'snapshot', 'status')).to.equal('done');
  });

  it('shows the current states, transitions and ends of check states and silences', async () => {
    await start();
    const name = 'entity:web-01:disk';
    await agent.result('disk', { interval: 5 });
    const inspector = await inspect({ actors: ['check-state:default/web-01/disk', `silence:default/${name}`] });
    await inspector.has(1);
    await agent.result('disk', { status: 2, interval: 5 });
    await agent.result('disk', { status: 2, interval: 5 });
    const silence = { metadata: { name, namespace: 'default' }, subscription: 'entity:web-01', check: 'disk' };
    await admin.put(`/ns/default/silenced/${name}`, { ...silence, begin: backend.nowS + 10, expire: 20 });
    await backend.clock.advance(40_000);
    await admin.delete('/ns/default/entities/web-01');
    const messages = await inspector.has(10);
    expect(outline(messages)).to.deep.equal([
      'actor passing',
      'event result.received',
      'snapshot result.received failing',
      'actor pending',
      'event begin.reached',
      'snapshot begin.reached active',
      'event expiry.reached',
      'snapshot expiry.reached expired',
      'event entity.deleted',
      'snapshot entity.deleted deleted',
    ]);
    expect(at(messages[0], 'snapshot', 'context')).to.deep.equal({
      key: 'default/web-01/disk',
      status: 0,
      occurrences: 1,
    });
    expect(at(messages[2], 'snapshot', 'context')).to.deep.equal({
      key: 'default/web-01/disk',
      status: 2,
      occurrences: 1,
    });
    expect(at(messages[7], 'snapshot', 'status')).to.equal('done');
    expect(JSON.parse(String(messages[0]?.['definition']))).to.deep.include({ id: 'check-state' });
    const past = await inspect({ actors: ['check-state:default/web-01/disk', `silence:default/${name}`], since: '0' });
    expect(outline(await past.has(10))).to.deep.equal(outline(messages));
  });

  it('shows connections and check schedules', async () => {
    await start();
    const check = { metadata: { name: 'uptime', namespace: 'default' }, command: 'true', interval: 10, publish: true };
    await admin.put('/ns/default/checks/uptime', { ...check, subscriptions: ['entity:web-01'] });
    const session = String(at((await admin.get('/api/mon/v1/sessions')).json, '0', 'id'));
    const inspector = await watching('check-schedule:default/uptime', `connection:${session}`);
    await backend.clock.advance(10_000);
    await inspector.has(4);
    await agent.vanish();
    const shown = (await inspector.has(6)).map((message) => outline([message])[0]);
    expect(shown).to.include.members([
      'actor scheduled.running',
      'actor registered',
      'event deadline.reached',
      'event request.sent',
      'snapshot socket.closed deregistered',
    ]);
  });

  describe('after a reconnection', () => {
    it('case 32: sends each missed message once', async () => {
      await start();
      const always = await watching(ENTITY);
      const before = await watching(ENTITY);
      await agent.keepalive(TIMING);
      await before.has(3);
      await before.leave();
      await outage();
      await always.has(9);
      const after = await inspect({ actors: [ENTITY], since: before.lastSeq });
      await after.has(6);
      await agent.keepalive(TIMING);
      await always.has(11);
      await after.has(8);
      expect([...before.messages, ...after.messages].slice(1)).to.deep.equal(always.messages.slice(1));
      const seqs = always.messages.map((message) => message['seq']);
      expect(new Set(seqs)).to.have.lengthOf(seqs.length);
    });

    it('sends only new messages when none was missed', async () => {
      await start();
      const before = await watching(ENTITY);
      await before.leave();
      const after = await inspect({ actors: [ENTITY], since: before.lastSeq });
      await agent.keepalive(TIMING);
      expect(outline(await after.has(2))).to.deep.equal([
        'event keepalive.received',
        'snapshot keepalive.received registered.monitored',
      ]);
    });

    it('registers the actors again, with the transitions in between, when more was missed than is kept', async () => {
      await start();
      const [before] = [await watching(ENTITY), await watching(ENTITY)];
      await before.leave();
      await outage();
      // Together with the six messages of the outage, more than the 200 that are kept.
      for (let n = 0; n < 100; n += 1) await agent.keepalive(TIMING);
      const after = await inspect({ actors: [ENTITY], since: before.lastSeq });
      expect(outline(await after.has(8))).to.deep.equal([
        'actor registered',
        ...PAST_OUTAGE,
        'snapshot inspection.past-ended registered.monitored',
      ]);
    });

    it('registers the actors again after a minute, and after a restart of the backend', async () => {
      await start();
      const before = await watching(ENTITY);
      await before.leave();
      await outage();
      const played = ['actor registered', ...PAST_OUTAGE, 'snapshot inspection.past-ended registered.monitored'];
      const late = await inspect({ actors: [ENTITY], since: before.lastSeq });
      expect(outline(await late.has(8))).to.deep.equal(played);
      await backend.downFor(1_000);
      admin = await backend.login();
      const restarted = await inspect({ actors: [ENTITY], since: before.lastSeq });
      expect(outline(await restarted.has(8))).to.deep.equal(played);
    });
  });

  it('replays past transitions from the ledger, then sends the current snapshot', async () => {
    await start();
    const seq = (await admin.ledger({ actor: 'entity', key: 'default/web-01' })).at(-1)?.seq;
    await agent.result('disk', { ttl: 20, interval: 5 });
    await outage();
    await outage();
    const entries = await admin.ledger({ actor: 'entity', key: 'default/web-01' });
    const inspector = await inspect({ actors: [ENTITY], since: String(seq) });
    const messages = await inspector.has(14);
    expect(outline(messages)).to.deep.equal([
      'actor registered',
      ...PAST_OUTAGE,
      ...PAST_OUTAGE,
      'snapshot inspection.past-ended registered.monitored',
    ]);
    const [, warning] = entries;
    expect(messages[2]).to.deep.include({ createdAt: String(warning?.atMs), seq: String(warning?.seq) });
    expect(at(messages[2], 'event', 'guards')).to.deep.equal(warning?.guards);
    await agent.keepalive(TIMING);
    expect(outline(await inspector.has(16)).slice(14)).to.deep.equal([
      'event keepalive.received',
      'snapshot keepalive.received registered.monitored',
    ]);
  });

  it('replays a long past of several actors in the order of the ledger', async () => {
    await start();
    for (let n = 0; n < 60; n += 1) {
      await agent.result('disk', { ttl: 10, interval: 5 });
      await agent.keepalive(TIMING);
      await backend.clock.advance(10_000);
    }
    await outage();
    const inspector = await inspect({ actors: [CHECK_TTL, ENTITY], since: '0' });
    const past = (actor: string, key: string) => admin.ledger({ actor, key });
    const entries = [...(await past('entity', 'default/web-01')), ...(await past('check-ttl', 'default/web-01/disk'))];
    const expected = entries
      .toSorted((one, other) => one.seq - other.seq)
      .map(({ actor, key, to }) => `${actor}:${key} ${to}`);
    expect(expected.length).to.be.above(100);
    const states = (): string[] =>
      inspector.messages
        .filter((message) => message['type'] !== '@xstate.event' && !String(message['seq']).includes('.'))
        .map((message) => `${String(message['sessionId'])} ${String(at(message, 'snapshot', 'value'))}`);
    await eventually(() => states().length >= expected.length);
    expect(states()).to.deep.equal(expected);
  });

  describe('before a commit', () => {
    it('shows nothing while the write is pending', async () => {
      await start();
      const inspector = await watching(ENTITY);
      const waits = backend.store.hold();
      await agent.keepalive(TIMING);
      await waits;
      await backend.clock.settle();
      expect(inspector.messages).to.have.lengthOf(1);
      backend.store.release();
      expect(outline(await inspector.has(3)).slice(1)).to.deep.equal([
        'event keepalive.received',
        'snapshot keepalive.received registered.monitored',
      ]);
    });

    it('never shows a lost decision', async () => {
      await start();
      const inspector = await watching(ENTITY);
      backend.store.failNextWrites(1);
      await backend.clock.advance(1_000);
      const lost = at((await inspector.has(1))[0], 'snapshot', 'context', 'lastReceivedAtMs');
      await agent.keepalive({ ...TIMING, timeout: 31 });
      await agent.socket.closed();
      await backend.clock.advance(1_000);
      const again = await ReportingAgent.connect(backend, 'web-01');
      await again.keepalive({ ...TIMING, timeout: 32 });
      const messages = await inspector.has(3);
      expect(at(messages[0], 'snapshot', 'context', 'lastReceivedAtMs')).to.equal(lost);
      expect(messages.slice(1).map((message) => at(message, 'event', 'warningMs'))).to.deep.equal([32_000, 32_000]);
      expect(JSON.stringify(messages)).to.not.include('31000');
    });

    it('never registers an actor with a snapshot from a lost decision', async () => {
      await start();
      const waits = backend.store.hold();
      await agent.keepalive({ ...TIMING, timeout: 31 });
      await waits;
      const inspector = await inspect({ actors: [ENTITY] });
      await backend.clock.settle();
      expect(inspector.messages).to.have.lengthOf(0);
      backend.store.failNextWrites(1);
      backend.store.release();
      const [registered] = await inspector.has(1);
      expect(at(registered, 'snapshot', 'context', 'warningMs')).to.equal(30_000);
    });
  });

  it('case 31: redacts secrets in contexts and events, including the fields that the entity names', async () => {
    const { config, implementations } = MACHINES.entity;
    const secrets = { password: 'open-1', login: { api_key: 'open-2', user: 'ann' }, doorPin: 'open-3' };
    const context = ({ input }: { input: { key: string } }) => ({
      key: input.key,
      warningMs: 0,
      criticalMs: 0,
      ...secrets,
    });
    const telling = createMachine({ ...config, context } as never, implementations as never);
    await start({}, { ...MACHINES, entity: telling as unknown as Machines['entity'] });
    const guarded = await ReportingAgent.connect(backend, 'web-02');
    await guarded.keepalive({ ...TIMING, entity: { redact: ['door_pin', 'warning_ms', 'type'] } });
    const inspector = await watching('entity:default/web-02');
    await guarded.keepalive(TIMING);
    const messages = await inspector.has(3);
    expect(JSON.stringify(messages)).to.not.include('open-');
    expect(at(messages[0], 'snapshot', 'context')).to.deep.include({
      password: 'REDACTED',
      doorPin: 'REDACTED',
      login: { api_key: 'REDACTED', user: 'ann' },
      criticalMs: 60_000,
    });
    expect(at(messages[1], 'event')).to.deep.include({ type: 'keepalive.received', warningMs: 'REDACTED' });
  });

  describe('admission', () => {
    const messageOf = ({ body }: HandshakeRefused): string => String(at(JSON.parse(body), 'message'));

    it('refuses a missing, a used and an invalid ticket', async () => {
      await start();
      const ticket = await ticketOf(admin);
      const url = inspectUrl(backend.apiPort, { ticket, actors: [ENTITY] });
      const inspector = await InspectorClient.connect(url);
      await inspector.leave();
      for (const [refused, rule] of [
        [url, 'the ticket is unknown, used or expired'],
        [inspectUrl(backend.apiPort, { ticket: 'invented', actors: [ENTITY] }), 'the ticket is unknown'],
        [inspectUrl(backend.apiPort, { actors: [ENTITY] }), 'ticket must be given'],
      ] as const) {
        const refusal = await validationErrorOf(refused);
        expect(refusal.status).to.equal(401);
        expect(messageOf(refusal)).to.include(rule);
      }
    });

    it('accepts a ticket for 60 s', async () => {
      await start();
      const [early, late] = [await ticketOf(admin), await ticketOf(admin)];
      await backend.clock.advance(59_999);
      const inspector = await InspectorClient.connect(inspectUrl(backend.apiPort, { ticket: early, actors: [ENTITY] }));
      await inspector.leave();
      await backend.clock.advance(1);
      const refusal = await validationErrorOf(inspectUrl(backend.apiPort, { ticket: late, actors: [ENTITY] }));
      expect(refusal.status).to.equal(401);
    });

    it('case 31: refuses a user without permission, and a user who was disabled meanwhile', async () => {
      await start();
      const ann = { username: 'ann', password: 'Ann-P@ssw0rd' };
      await admin.put('/api/core/v2/users/ann', { ...ann, groups: ['system:agents'] });
      const user = await ApiClient.login(backend.apiPort, ann);
      try {
        const [now, later] = [await ticketOf(user), await ticketOf(user)];
        const forbidden = await validationErrorOf(inspectUrl(backend.apiPort, { ticket: now, actors: [ENTITY] }));
        expect(forbidden.status).to.equal(403);
        await admin.delete('/api/core/v2/users/ann');
        const disabled = await validationErrorOf(inspectUrl(backend.apiPort, { ticket: later, actors: [ENTITY] }));
        expect(disabled.status).to.equal(401);
      } finally {
        user.close();
      }
    });

    for (const [what, query, rule] of [
      ['no actor', {}, 'actor must be given at least once'],
      [
        'more than 50 actors',
        { actors: Array.from({ length: 51 }, (_, n) => `entity:default/web-${n}`) },
        'actor must be given at most 50 times, not 51',
      ],
      ['an actor of no kind', { actors: ['web-01'] }, 'actor must be <actor>:<key>'],
      ['a key of another form', { actors: ['entity:web-01'] }, 'must have a key of 2 names'],
      ['a name that is none', { actors: ['entity:default/a b'] }, 'must have a key of 2 names'],
      ['a since that is no number', { actors: [ENTITY], since: 'yesterday' }, 'since must be the number'],
      [
        'a since of the future',
        { actors: [ENTITY], since: '99999999' },
        'since must not be greater than the last ledger entry',
      ],
    ] as const) {
      it(`refuses ${what}`, async () => {
        await start();
        const refusal = await validationErrorOf(await urlFor(query));
        expect(refusal.status).to.equal(400);
        expect(messageOf(refusal)).to.include(rule);
      });
    }

    it('accepts fifty actors, and counts a repeated one once', async () => {
      await start();
      const actors = Array.from({ length: 50 }, (_, n) => `entity:default/web-${n}`);
      const inspector = await inspect({ actors: [...actors, 'entity:default/web-0', ENTITY.replace('01', '1')] });
      await inspector.leave();
    });

    it('accepts eight inspectors, and another one when one disconnects', async () => {
      await start();
      const inspectors: InspectorClient[] = [];
      for (let n = 0; n < 8; n += 1) inspectors.push(await inspect({ actors: [ENTITY] }));
      const refusal = await validationErrorOf(await urlFor({ actors: [ENTITY] }));
      expect([refusal.status, messageOf(refusal)]).to.deep.equal([503, 'at most 8 inspectors']);
      await inspectors[0]?.leave();
      const next = await eventually(async () => InspectorClient.connect(await urlFor({ actors: [ENTITY] })));
      await next.has(1);
    });

    it('case 31: refuses other paths, and all connections when the inspector is disabled', async () => {
      await start();
      const elsewhere = await validationErrorOf(
        inspectUrl(backend.apiPort, { ticket: await ticketOf(admin) }, '/debug/other'),
      );
      expect(elsewhere.status).to.equal(404);
      await backend.stop();
      await start({ inspect: false });
      expect(await validationErrorOf(await urlFor({ actors: [ENTITY] }))).to.have.property('status', 404);
    });
  });

  const CORE = '/api/core/v2';
  const ANN = `${CORE}/users/ann`;
  /** The status for an unused ticket: 401 when its credentials are no longer valid, 403 when its user lacks permission. */
  const endings: [string, number, (access: string, refresh: string) => Promise<ApiAnswer>][] = [
    ['its user is disabled', 401, () => admin.delete(ANN)],
    ['its user has a new password', 401, () => admin.put(`${ANN}/reset_password`, { password_hash: SECOND_HASH })],
    ['its user leaves the group that has the right', 403, () => admin.delete(`${ANN}/groups/watchers`)],
    ['the binding of its group is deleted', 403, () => admin.delete(`${CORE}/clusterrolebindings/watch`)],
    ['the role of its group is another', 403, () => watchersMay([{ verbs: ['list'], resources: ['inspect'] }])],
    [
      'its user logs out',
      401,
      (access, refresh) =>
        admin.request({
          method: 'POST',
          path: '/auth/logout',
          headers: { authorization: `Bearer ${access}` },
          body: { refresh_token: refresh },
        }),
    ],
  ];
  const watchersMay = (rules: object[]): Promise<ApiAnswer> =>
    admin.put(`${CORE}/clusterroles/watch`, { metadata: { name: 'watch' }, rules });

  /** Creates the user ann, who may inspect through a group. */
  async function addWatcher(): Promise<Credentials> {
    const ann = { username: 'ann', password: 'Ann-P@ssw0rd' };
    await watchersMay([{ verbs: ['get'], resources: ['inspect'] }]);
    const subjects = [{ type: 'Group', name: 'watchers' }];
    const role_ref = { type: 'ClusterRole', name: 'watch' };
    await admin.put(`${CORE}/clusterrolebindings/watch`, { metadata: { name: 'watch' }, subjects, role_ref });
    await admin.put(ANN, { ...ann, groups: ['watchers'] });
    return ann;
  }

  /** Returns a single-use inspector URL for these credentials. */
  async function ticketUrl(authorization: string): Promise<string> {
    const answer = await admin.request({
      method: 'POST',
      path: '/api/mon/v1/tickets',
      headers: { authorization },
    });
    return inspectUrl(backend.apiPort, { ticket: String(at(answer.json, 'ticket')), actors: [ENTITY] });
  }

  for (const [when, status, end] of endings) {
    it(`closes within a second when ${when}, and rejects an unused ticket`, async () => {
      await start();
      const ann = await addWatcher();
      const login = { method: 'GET', path: '/auth', headers: { authorization: basicHeader(ann) } };
      const { json } = await admin.request(login);
      const [access, refresh] = [String(at(json, 'access_token')), String(at(json, 'refresh_token'))];
      const inspector = await InspectorClient.connect(await ticketUrl(`Bearer ${access}`));
      const unused = await ticketUrl(`Bearer ${access}`);
      await backend.clock.advance(1_500);
      expect((await end(access, refresh)).status).to.be.oneOf([200, 201, 204]);
      await backend.clock.advance(1_000);
      expect(await inspector.closed()).to.deep.equal({ code: 1008, reason: 'no longer allowed' });
      expect(await validationErrorOf(unused)).to.have.property('status', status);
    });
  }

  const keyEndings: [string, (key: string) => Promise<ApiAnswer>][] = [
    ['is deleted', (key) => admin.delete(key)],
    ['becomes that of another user', (key) => admin.patch(key, { username: 'admin' })],
  ];
  for (const [what, end] of keyEndings) {
    it(`closes within a second when the API key that opened it ${what}, and not after a change of another key`, async () => {
      await start();
      const { username } = await addWatcher();
      const made = [0, 1].map(() => admin.post(`${CORE}/apikeys`, { username }));
      const [ending = '', lasting = ''] = (await Promise.all(made)).map(({ headers }) => headers.location ?? '');
      const urlBy = (key: string): Promise<string> => ticketUrl(`Key ${key.slice(key.lastIndexOf('/') + 1)}`);
      const [inspector, other] = [
        await InspectorClient.connect(await urlBy(ending)),
        await InspectorClient.connect(await urlBy(lasting)),
      ];
      const unused = await urlBy(ending);
      await backend.clock.advance(1_500);
      expect((await end(ending)).status).to.be.oneOf([200, 204]);
      await backend.clock.advance(1_000);
      expect(await inspector.closed()).to.deep.equal({ code: 1008, reason: 'no longer allowed' });
      expect(await validationErrorOf(unused)).to.have.property('status', 401);
      await agent.keepalive(TIMING);
      await other.has(3);
    });
  }

  it('closes when the backend stops', async () => {
    await start();
    const inspector = await watching(ENTITY);
    await backend.halt();
    expect(await inspector.closed()).to.deep.equal({ code: 1001, reason: 'bye' });
  });
});
