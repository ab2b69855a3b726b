import { hashSync } from '@node-rs/bcrypt';
import { expect } from 'chai';
import { HandshakeRefused } from '../../support/agent-client.ts';
import { ApiClient } from '../../support/api-client.ts';
import { eventually } from '../../support/eventually.ts';
import { perTest } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';
import { type InspectMessage, InspectorClient, ticketOf } from '../../support/inspector-client.ts';
import { ReportingAgent } from '../../support/reporting-agent.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';

const TIMING = { interval: 5, timeout: 30, ttl: 60 };
const VIEWER = { username: 'viewer', password: 'viewer-pass' };

describe('the live feed', () => {
  const backend = perTest(() => RestartableBackend.start({}));
  let admin: ApiClient;

  beforeEach(async () => {
    admin = await backend.login();
  });

  async function connect(user: ApiClient, query: Record<string, string | string[]> = {}): Promise<InspectorClient> {
    const search = new URLSearchParams({ ticket: await ticketOf(user) });
    for (const [name, values] of Object.entries(query)) for (const value of [values].flat()) search.append(name, value);
    return InspectorClient.connect(`ws://127.0.0.1:${backend.apiPort}/api/mon/v1/live?${search}`);
  }

  const outlineOf = (messages: readonly InspectMessage[], kind: string): string[] =>
    messages.filter((message) => message['kind'] === kind).map(({ key, to }) => `${String(key)} ${String(to)}`);

  const ledgerAfter = async (seq: number): Promise<number[]> => {
    const { json } = await admin.get(`/api/mon/v1/ledger?limit=1000&continue=${seq}`);
    return (at(json, 'entries') as { seq: number }[]).map((entry) => entry.seq);
  };

  /** Lets the clock of the backend run until the client has messages that meet a condition. */
  async function received(
    live: InspectorClient,
    isEnough: (all: InspectMessage[]) => boolean,
  ): Promise<InspectMessage[]> {
    return eventually(
      async () => {
        await backend.clock.advance(50);
        return live.messages;
      },
      isEnough,
      { what: 'the messages of the live feed' },
    );
  }

  it('begins with a position, and then sends each transition when it is durable', async () => {
    const live = await connect(admin);
    const [first] = await live.has(1);
    expect(first).to.include({ type: 'position' });
    const agent = await ReportingAgent.connect(backend, 'web-01');
    await agent.keepalive(TIMING);
    await backend.clock.advance(60_000);
    const messages = await received(live, (all) => outlineOf(all, 'entity').length === 3);
    expect(outlineOf(messages, 'entity')).to.deep.equal([
      'default/web-01 registered',
      'default/web-01 warning',
      'default/web-01 critical',
    ]);
    const opened = messages.find(({ kind }) => kind === 'connection');
    expect(opened).to.include({ agent: 'default/web-01', from: null, to: 'registered' });
    expect(messages.slice(1).map(({ seq }) => seq)).to.deep.equal(await ledgerAfter(Number(first?.['seq'])));
  });

  it('continues after a number without a gap and without a repetition', async () => {
    const agent = await ReportingAgent.connect(backend, 'web-01');
    await agent.keepalive(TIMING);
    const seqs = await ledgerAfter(0);
    const since = seqs[3] ?? 0;
    const live = await connect(admin, { since: String(since) });
    await agent.result('disk', { status: 2 });
    await received(live, (all) => outlineOf(all, 'check-state').includes('default/web-01/disk failing'));
    expect(live.messages[0]).to.deep.equal({ type: 'position', seq: since });
    expect(live.messages.slice(1).map(({ seq }) => seq)).to.deep.equal(await ledgerAfter(since));
  });

  it('resets a client whose number the ledger has not reached', async () => {
    const { length: head } = await ledgerAfter(0);
    const live = await connect(admin, { since: String(head + 1) });
    const [first] = await live.has(1);
    expect(first).to.deep.equal({ type: 'reset', seq: head });
  });

  it('sends only the kinds and namespaces that were asked for', async () => {
    await admin.put('/api/core/v2/namespaces/dev', { name: 'dev' });
    const live = await connect(admin, { kind: ['entity', 'check-state'], namespace: 'dev' });
    const [web, db] = [
      await ReportingAgent.connect(backend, 'web-01'),
      await ReportingAgent.connect(backend, 'db-01', { namespace: 'dev' }),
    ];
    for (const agent of [web, db]) {
      await agent.keepalive(TIMING);
      await agent.result('disk', { status: 2 });
    }
    const [, ...changes] = await received(live, ({ length }) => length === 4);
    expect(new Set(changes.map(({ kind }) => kind))).to.deep.equal(new Set(['entity', 'check-state']));
    expect(changes.every(({ key }) => String(key).startsWith('dev/'))).to.equal(true);
  });

  it('shows a user only what the user may list', async () => {
    await admin.put('/api/core/v2/namespaces/dev', { name: 'dev' });
    await admin.put('/api/core/v2/users/viewer', {
      username: 'viewer',
      password_hash: hashSync(VIEWER.password, { cost: 4 }),
    });
    await admin.put('/ns/dev/roles/viewer', {
      metadata: { name: 'viewer', namespace: 'dev' },
      rules: [{ verbs: ['list'], resources: ['events'] }],
    });
    await admin.put('/ns/dev/rolebindings/viewer', {
      metadata: { name: 'viewer', namespace: 'dev' },
      subjects: [{ type: 'User', name: 'viewer' }],
      role_ref: { type: 'Role', name: 'viewer' },
    });
    const live = await connect(await ApiClient.login(backend.apiPort, VIEWER));
    for (const namespace of ['default', 'dev']) {
      const agent = await ReportingAgent.connect(backend, `web-${namespace}`, { namespace });
      await agent.keepalive(TIMING);
      await agent.result('disk', { status: 2 });
    }
    const [, ...changes] = await received(live, ({ length }) => length >= 3);
    expect(changes.map(({ kind, key }) => `${String(kind)} ${String(key)}`)).to.deep.equal([
      'check-state dev/web-dev/keepalive',
      'check-state dev/web-dev/disk',
    ]);
    await admin.delete('/api/core/v2/users/viewer');
    await backend.clock.advance(1_000);
    expect(await live.closed()).to.deep.equal({ code: 1008, reason: 'no longer allowed' });
  });

  it('admits a client only with an unused ticket and a valid number', async () => {
    const url = `ws://127.0.0.1:${backend.apiPort}/api/mon/v1/live`;
    for (const [query, status] of [
      ['', 401],
      ['?ticket=none', 401],
      [`?ticket=${await ticketOf(admin)}&since=-1`, 400],
    ] as const) {
      const refused: unknown = await InspectorClient.connect(url + query).catch((error: unknown) => error);
      expect(refused).to.be.an.instanceOf(HandshakeRefused).with.property('status', status);
    }
  });
});
