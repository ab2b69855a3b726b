import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { expect } from 'chai';
import { InProcessAgent } from '../../agent/in-process-agent.ts';
import { type AgentClient, agentHeaders, HandshakeRefused } from '../../support/agent-client.ts';
import { ApiClient } from '../../support/api-client.ts';
import { eventually } from '../../support/eventually.ts';
import { checkEvent, keepalive } from '../../support/example-events.ts';
import { perTest } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';
import { rawRequest } from '../../support/raw-handshake.ts';

type Json = Record<string, unknown>;

const PASSWORD = 'P@ssw0rd!';

describe('the list of connections', () => {
  const backend = perTest(() => InProcessBackend.start());
  const api = perTest(() => backend.login());

  async function listed(path: string): Promise<Json[]> {
    const { status, json, text } = await api.get(path);
    if (status !== 200) throw new Error(`GET ${path} answered ${status} ${text}`);
    return json as Json[];
  }

  const sessionsOf = async (agent: string, namespace = 'default'): Promise<Json[]> =>
    (await listed(`/api/mon/v1/namespaces/${namespace}/sessions`)).filter((session) => session['agent'] === agent);

  const refusals = (): Promise<Json[]> => listed('/api/mon/v1/handshake-refusals');

  const warnings = (msg: string) => backend.log.lines.filter((line) => line.level === 'warn' && line.msg === msg);

  /** Frames are read in order: the pong arrives after the backend has processed what was sent before it. */
  const decided = (agent: AgentClient): Promise<number> => agent.ping(randomUUID());

  it('shows address, user and times of a healthy connection, and no problem', async () => {
    const openedAt = backend.nowS;
    const agent = await backend.connected({ name: 'vis-ok' });
    const [before] = await sessionsOf('vis-ok');
    expect(before).to.include({ last_frame_at: null, last_keepalive_at: null, clock_skew_seconds: null, queue: null });
    await backend.clock.advance(5_000);
    agent.send('keepalive', keepalive('vis-ok', { timestamp: backend.nowS }));
    await decided(agent);
    await backend.clock.advance(2_000);
    const [session, ...others] = await sessionsOf('vis-ok');
    expect(others).to.deep.equal([]);
    expect(session?.['id']).to.match(/^[0-9a-f-]{36}$/);
    expect(session?.['address']).to.match(/^127\.0\.0\.1:\d+$/);
    expect(session).to.deep.include({
      namespace: 'default',
      user: 'agent',
      encoding: 'json',
      opened_at: openedAt,
      state: 'registered',
      silent_ms: 2_000,
      last_frame_at: openedAt + 5,
      last_keepalive_at: openedAt + 5,
      clock_skew_seconds: 0,
      dropped_requests: 0,
      refused: 0,
      last_refusal: null,
      problems: [],
    });
    await agent.disconnect();
    await eventually(async () => (await sessionsOf('vis-ok')).length === 0);
  });

  it('shows the last acknowledged number of a connection with a queue', async () => {
    const queueId = randomUUID();
    const agent = await backend.connected({ name: 'vis-queue', queueId });
    expect(at((await sessionsOf('vis-queue'))[0], 'queue')).to.deep.equal({ id: queueId, acknowledged: null });
    agent.send('event 41', checkEvent('vis-queue', 'c'));
    await agent.next('ack');
    expect(at((await sessionsOf('vis-queue'))[0], 'queue')).to.deep.equal({ id: queueId, acknowledged: 41 });
  });

  it('shows a problem, with the other address, for both agents of one name until one leaves', async () => {
    const first = await backend.connected({ name: 'vis-twice' });
    expect(warnings('another session of this agent is open')).to.deep.equal([]);
    const second = await backend.connected({ name: 'vis-twice' });
    const sessions = await sessionsOf('vis-twice');
    const [one = '', two = ''] = sessions.map(({ address }) => String(address));
    expect(sessions.map(({ problems }) => problems)).to.deep.equal([
      [`another connection of vis-twice is open, from ${two}`],
      [`another connection of vis-twice is open, from ${one}`],
    ]);
    const [warning, ...more] = warnings('another session of this agent is open');
    expect(more).to.deep.equal([]);
    expect(warning?.fields).to.include({ namespace: 'default', agent: 'vis-twice', others: 1 });
    expect([warning?.fields['address'], warning?.fields['other']]).to.have.members([one, two]);
    await second.disconnect();
    const left = await eventually(
      () => sessionsOf('vis-twice'),
      (found) => found.length === 1,
    );
    expect(left[0]?.['problems']).to.deep.equal([]);
    expect(first.isOpen).to.equal(true);
  });

  it('shows no problem for the same name in two namespaces', async () => {
    expect((await api.put('/api/core/v2/namespaces/dev', { name: 'dev' })).status).to.equal(201);
    await backend.connected({ name: 'vis-spaces' });
    await backend.connected({ name: 'vis-spaces', namespace: 'dev' });
    for (const namespace of ['default', 'dev']) {
      const sessions = await sessionsOf('vis-spaces', namespace);
      expect(sessions.map((session) => [session['namespace'], session['problems']])).to.deep.equal([[namespace, []]]);
    }
  });

  for (const [what, skewS, direction] of [
    ['ahead', 600, 'ahead of'],
    ['behind', -600, 'behind'],
  ] as const) {
    it(`shows a problem with the seconds, and logs one warning, for a clock that is 10 minutes ${what}`, async () => {
      const agent = await backend.connected({ name: 'vis-skew' });
      for (let n = 0; n < 2; n += 1) {
        agent.send('keepalive', keepalive('vis-skew', { timestamp: backend.nowS + skewS }));
        await decided(agent);
      }
      const [session] = await sessionsOf('vis-skew');
      expect(session).to.deep.include({
        clock_skew_seconds: skewS,
        problems: [`its clock is 600 seconds ${direction} the backend's`],
      });
      expect(
        warnings('agent clock differs from the backend clock').map(({ fields }) => fields['clock_skew_seconds']),
      ).to.deep.equal([skewS]);
    });
  }

  it('shows no problem for a clock that is half a minute off or correct again', async () => {
    const agent = await backend.connected({ name: 'vis-skewed' });
    for (const [skewS, problems] of [
      [30, 0],
      [31, 1],
      [0, 0],
    ] as const) {
      agent.send('keepalive', keepalive('vis-skewed', { timestamp: backend.nowS + skewS }));
      await decided(agent);
      const [session] = await sessionsOf('vis-skewed');
      expect(session?.['clock_skew_seconds']).to.equal(skewS);
      expect(session?.['problems']).to.have.lengthOf(problems);
    }
  });

  it('counts a refused message with its reason across reconnects, and shows a problem for 15 minutes', async () => {
    const agent = await backend.connected({ name: 'vis-bad' });
    for (let n = 0; n < 2; n += 1) agent.send('event', checkEvent('vis-bad', 'c', { status: -1 }));
    await decided(agent);
    const refusedAt = backend.nowS;
    const [session] = await sessionsOf('vis-bad');
    const reason = at(session, 'last_refusal', 'reason');
    expect(reason).to.match(/status/);
    expect(session).to.deep.include({
      refused: 2,
      last_refusal: { at: refusedAt, reason },
      problems: [`refused messages: 2, the last because: ${String(reason)}`],
    });
    expect(warnings('message refused').map(({ fields }) => [fields['agent'], fields['error']])).to.deep.equal([
      ['vis-bad', reason],
    ]);

    agent.sendRaw('no line feed');
    await agent.closed();
    const again = await backend.connected({ name: 'vis-bad' });
    expect((await sessionsOf('vis-bad'))[0]).to.deep.include({
      refused: 3,
      last_refusal: { at: refusedAt, reason: 'message has no line feed after its type' },
    });
    for (let minute = 0; minute < 15; minute += 1) {
      await backend.clock.advance(60_000);
      if (!again.isOpen) await backend.connected({ name: 'vis-bad' });
    }
    const [later] = await sessionsOf('vis-bad');
    expect(later).to.include({ refused: 3 });
    expect(later?.['problems']).to.deep.equal([]);
  });

  for (const [what, message, reason] of [
    ['of an unknown type', 'bogus\u001b\n{}', 'unknown message type: bogus\\u{1b}'],
    ['above the limit', `event\n${'x'.repeat(11 * 1024 * 1024)}`, 'Max payload size exceeded'],
  ] as const) {
    it(`counts a message ${what}`, async () => {
      const agent = await backend.connected({ name: 'vis-frame' });
      agent.sendRaw(message);
      if (what === 'above the limit') {
        await agent.closed();
        await backend.connected({ name: 'vis-frame' });
      } else {
        await decided(agent);
      }
      const session = (await sessionsOf('vis-frame')).at(-1);
      expect(session).to.include({ refused: 1 });
      expect(at(session, 'last_refusal', 'reason')).to.equal(reason);
    });
  }

  it('shows a warning for a silent connection', async () => {
    await backend.connected({ name: 'vis-silent', answersPings: false });
    await backend.clock.advance(50_000);
    const [session] = await sessionsOf('vis-silent');
    expect(session).to.deep.include({ state: 'warning', silent_ms: 50_000, problems: ['the agent is silent'] });
  });

  it('has pages that cover all namespaces, ordered by namespace and agent', async () => {
    expect((await api.put('/api/core/v2/namespaces/a-dev', { name: 'a-dev' })).status).to.equal(201);
    for (const name of ['vis-c', 'vis-a', 'vis-b']) await backend.connected({ name });
    await backend.connected({ name: 'vis-z', namespace: 'a-dev' });
    const seen: string[][] = [];
    let position = '';
    do {
      const { json, headers } = await api.get(`/api/mon/v1/sessions?limit=2${position}`);
      seen.push((json as Json[]).map(({ namespace, agent }) => `${String(namespace)}/${String(agent)}`));
      position = headers['sensu-continue'] === undefined ? '' : `&continue=${String(headers['sensu-continue'])}`;
    } while (position !== '');
    expect(seen).to.deep.equal([
      ['a-dev/vis-z', 'default/vis-a'],
      ['default/vis-b', 'default/vis-c'],
    ]);
    expect(await listed('/api/mon/v1/namespaces/nowhere/sessions')).to.deep.equal([]);
  });

  it('includes handshakes refused with 401, 403 and 404, with agent, reason and count, newest first', async () => {
    const made = await api.post('/api/core/v2/users', { username: 'powerless', password: PASSWORD });
    expect(made.status).to.equal(201);
    const refused = async (options: Parameters<InProcessBackend['connect']>[0]): Promise<void> => {
      const error: unknown = await backend.connect(options).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(error).to.be.instanceOf(HandshakeRefused);
      await backend.clock.advance(1_000);
    };
    const startS = backend.nowS;
    const wrong = { username: 'agent', password: 'wr0ng-secret' };
    await refused({ name: 'vis-401', credentials: wrong });
    await refused({ name: 'vis-403', credentials: { username: 'powerless', password: PASSWORD } });
    await refused({ name: 'vis-404', namespace: 'nope' });
    await refused({ name: 'vis-401', credentials: wrong });

    const found = await refusals();
    const byUser = (user: string, namespace = 'default') => ({ address: '127.0.0.1', user, namespace });
    const between = (firstS: number, lastS: number) => ({ first_at: startS + firstS, last_at: startS + lastS });
    const [unauthenticated, unknown, forbidden] = [
      { agent: 'vis-401', status: 401, reason: 'bad credentials', count: 2 },
      { agent: 'vis-404', status: 404, reason: 'namespace "nope" not found', count: 1 },
      { agent: 'vis-403', status: 403, reason: 'Forbidden', count: 1 },
    ];
    expect(found).to.deep.equal([
      { ...byUser('agent'), ...unauthenticated, ...between(0, 3) },
      { ...byUser('agent', 'nope'), ...unknown, ...between(2, 2) },
      { ...byUser('powerless'), ...forbidden, ...between(1, 1) },
    ]);
    expect(warnings('agent refused').map(({ fields }) => fields['agent'])).to.deep.equal([
      'vis-401',
      'vis-403',
      'vis-404',
    ]);
    expect(JSON.stringify([found, backend.log.lines]))
      .to.not.include('wr0ng-secret')
      .and.not.include(PASSWORD);
  });

  it('includes handshakes with invalid headers, without an upgrade, or without HTTP', async () => {
    const { agentPort: port } = backend;
    const lines = Object.entries(agentHeaders({ name: 'bad\u0085 name' })).map(([name, value]) => `${name}: ${value}`);
    await rawRequest(port, { path: '/', lines, upgrade: true });
    await rawRequest(port, { path: '/', lines: [], upgrade: false });
    await rawRequest(port, { path: '/', lines: ['not a header'], upgrade: true });
    await rawRequest(port, { path: '/', lines: [`X: ${'x'.repeat(20_000)}`], upgrade: true });
    // The first bytes of a TLS connection.
    const stranger = connect(port, '127.0.0.1', () => stranger.write(Buffer.from('16030100c8010000c403', 'hex')));
    stranger.on('error', () => undefined).resume();
    const found = await eventually(refusals, (list) => list.length >= 5, { what: 'five refusals' });
    stranger.destroy();
    const rows = found.map(({ status, agent, reason }) => [status, agent, String(reason).split(':')[0]]);
    expect(rows.toReversed()).to.deep.equal([
      // Header bytes are decoded as Latin-1.
      [400, 'badÂ\\u{85} name', 'Bad Request'],
      [401, '', 'missing credentials'],
      [400, '', 'not an HTTP request'],
      [431, '', 'headers are too large'],
      [400, '', 'not an HTTP request'],
    ]);
  });

  it('does not include requests for other paths as refused handshakes', async () => {
    for (const upgrade of [true, false]) {
      const answer = await rawRequest(backend.agentPort, { path: '/favicon.ico', lines: [], upgrade });
      expect(answer.status).to.equal(404);
    }
    expect(await refusals()).to.deep.equal([]);
  });

  it('includes a refused agent, which also logs the refusal itself', async () => {
    const url = `ws://127.0.0.1:${backend.agentPort}`;
    const agent = InProcessAgent.start(url, '--log-level', 'warn', '--password', 'wr0ng-secret');
    try {
      const [line] = await eventually(
        () => agent.log.filter((logged) => logged['msg'] === 'reconnection attempt failed'),
        (lines) => lines.length > 0,
        { what: 'a failed attempt in the log of the agent', withinMs: 20_000 },
      );
      expect(line).to.include({
        level: 'error',
        'backend-url': url,
        error: 'handshake failed with status 401: bad credentials',
      });
      expect((await refusals())[0]).to.include({
        agent: 'tester',
        user: 'agent',
        status: 401,
        reason: 'bad credentials',
      });
    } finally {
      await agent.kill();
    }
  });

  it("is not available to the agents' user", async () => {
    const agent = await ApiClient.login(backend.apiPort, { username: 'agent', password: PASSWORD });
    try {
      for (const path of ['sessions', 'namespaces/default/sessions', 'handshake-refusals']) {
        expect((await agent.get(`/api/mon/v1/${path}`)).status).to.equal(403);
      }
    } finally {
      agent.close();
    }
  });
});
