import { expect } from 'chai';
import { AGENT, agentHeaders } from '../../support/agent-client.ts';
import { perSuite } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { rawRequest } from '../../support/raw-handshake.ts';

describe('the handshake of the agent port', () => {
  const backend = perSuite(() => InProcessBackend.start());

  /** The header lines of an agent; `undefined` omits one. */
  const linesOf = (name: string, changes: Record<string, string | undefined> = {}): string[] =>
    Object.entries({ ...agentHeaders({ name }), ...changes }).flatMap(([key, value]) =>
      value === undefined ? [] : [`${key}: ${value}`],
    );

  const upgrade = (changes: Record<string, string | undefined>) =>
    rawRequest(backend.agentPort, { path: '/', lines: linesOf('hs-01', changes), upgrade: true });

  const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;

  const accepts: [string, string | undefined][] = [
    ['application/json', 'application/json'],
    ['nothing', undefined],
    ['a list', 'application/octet-stream, application/json'],
    ['anything', '*/*'],
  ];
  for (const [what, accept] of accepts) {
    it(`case 2: selects JSON for an agent that accepts ${what}`, async () => {
      const { status, headers } = await upgrade({ Accept: accept });
      expect(status).to.equal(101);
      expect(headers['content-type']).to.deep.equal(['application/json']);
      expect(headers['accept']).to.include('application/json');
      expect(headers['backend-id']).to.have.lengthOf(1);
    });
  }

  it('case 2: selects JSON for an agent that accepts anything but protobuf', async () => {
    const agent = await backend.connect({ name: 'hs-json', headers: { Accept: '*/*' } });
    expect(await agent.next('entity_config')).to.have.property('entity_class', 'agent');
  });

  it('case 1: selects protobuf for the exact media type, and offers it on a separate line', async () => {
    const { status, headers } = await upgrade({ Accept: 'application/octet-stream' });
    expect(status).to.equal(101);
    expect(headers['content-type']).to.deep.equal(['application/octet-stream']);
    expect(headers['accept']).to.deep.equal(['application/octet-stream', 'application/json']);
    expect(headers['backend-id']).to.have.lengthOf(1);
  });

  it('offers no compression and no subprotocol', async () => {
    const lines = [...linesOf('hs-01'), 'Sec-WebSocket-Protocol: foo', 'Sec-WebSocket-Extensions: permessage-deflate'];
    const { status, headers } = await rawRequest(backend.agentPort, { path: '/', lines, upgrade: true });
    expect(status).to.equal(101);
    expect(headers['sec-websocket-extensions']).to.equal(undefined);
    expect(headers['sec-websocket-protocol']).to.equal(undefined);
  });

  it('agrees to acknowledge only if the agent asks for it', async () => {
    const queue = { 'Mon-Ack': '1', 'Mon-Queue': '6f2b1c1e-8f0a-4d6b-9a57-0c6d3f0e1a22' };
    expect((await upgrade(queue)).headers['mon-ack']).to.deep.equal(['1']);
    expect((await upgrade({})).headers['mon-ack']).to.equal(undefined);
  });

  it('accepts both spellings of its headers', async () => {
    const neutral = {
      'Mon-AgentName': 'hs-02',
      'Mon-Namespace': 'default',
      'Mon-Subscriptions': 'a',
      'Mon-User': 'agent',
    };
    const lines = Object.entries({ ...neutral, Authorization: basic(`${AGENT.username}:${AGENT.password}`) }).map(
      ([key, value]) => `${key}: ${value}`,
    );
    expect((await rawRequest(backend.agentPort, { path: '/', lines, upgrade: true })).status).to.equal(101);
  });

  const refused: [string, Record<string, string | undefined>, number, string | RegExp][] = [
    ['case 3: without credentials', { Authorization: undefined }, 401, 'missing credentials\n'],
    ['case 3: with a wrong password', { Authorization: basic('agent:x') }, 401, 'bad credentials\n'],
    ['case 3: with an unknown user', { Authorization: basic('nobody:P@ssw0rd!') }, 401, 'bad credentials\n'],
    ['case 3: with a bearer token', { Authorization: 'Bearer abc.def.ghi' }, 401, 'missing credentials\n'],
    ['case 3: with Basic credentials that are none', { Authorization: 'Basic !!!' }, 401, 'missing credentials\n'],
    ['case 5: into an unknown namespace', { 'Sensu-Namespace': 'nope' }, 404, 'namespace "nope" not found\n'],
    ['case 5: into an empty namespace', { 'Sensu-Namespace': '' }, 404, 'namespace "" not found\n'],
    ['case 5: into no namespace', { 'Sensu-Namespace': undefined }, 404, 'namespace "" not found\n'],
    ['without a name', { 'Sensu-AgentName': undefined }, 400, /./],
    ['with a name of special characters', { 'Sensu-AgentName': 'bad name!' }, 400, /./],
    ['with two names', { 'Mon-AgentName': 'other' }, 400, /./],
  ];
  for (const [what, changes, status, body] of refused) {
    it(`${what} is refused with ${status}`, async () => {
      const answer = await upgrade(changes);
      expect(answer.status).to.equal(status);
      expect(answer.headers['content-type']).to.deep.equal(['text/plain; charset=utf-8']);
      expect(answer.headers['x-content-type-options']).to.deep.equal(['nosniff']);
      expect(answer.headers).to.not.have.property('www-authenticate');
      if (typeof body === 'string') expect(answer.body).to.equal(body);
      else expect(answer.body).to.match(body);
    });
  }

  it('case 3: with the password of a disabled user is refused with 401, and accepted after the user is reinstated', async () => {
    const api = await backend.login();
    const lines = { Authorization: basic('leaving:P@ssw0rd!') };
    const user = { username: 'leaving', password: 'P@ssw0rd!', groups: ['system:agents'] };
    expect((await api.post('/api/core/v2/users', user)).status).to.equal(201);
    expect((await upgrade(lines)).status).to.equal(101);
    expect((await api.delete('/api/core/v2/users/leaving')).status).to.equal(204);
    const answer = await upgrade(lines);
    expect([answer.status, answer.body]).to.deep.equal([401, 'bad credentials\n']);
    expect((await api.put('/api/core/v2/users/leaving/reinstate', {})).status).to.equal(201);
    expect((await upgrade(lines)).status).to.equal(101);
  });

  it('case 4: with a user who may not create events in the namespace is refused with 403', async () => {
    const api = await backend.login();
    const user = { username: 'powerless', password: 'P@ssw0rd!' };
    expect((await api.post('/api/core/v2/users', user)).status).to.equal(201);
    // A missing namespace as well: an unauthorised user learns nothing about it.
    for (const namespace of ['default', 'nope']) {
      const answer = await upgrade({ Authorization: basic('powerless:P@ssw0rd!'), 'Sensu-Namespace': namespace });
      expect([answer.status, answer.body]).to.deep.equal([403, 'Forbidden\n']);
      expect(answer.headers['content-type']).to.deep.equal(['text/plain; charset=utf-8']);
    }
  });

  it('case 6: a plain GET / with credentials is refused with 400', async () => {
    const answer = await rawRequest(backend.agentPort, { path: '/', lines: linesOf('hs-01'), upgrade: false });
    expect(answer.status).to.equal(400);
    expect(answer.body).to.match(/^Bad Request/);
  });

  it('case 6: a plain GET / without credentials is refused with 401', async () => {
    const answer = await rawRequest(backend.agentPort, { path: '/', lines: [], upgrade: false });
    expect([answer.status, answer.body]).to.deep.equal([401, 'missing credentials\n']);
  });

  it('case 6: GET /foo is answered with 404, with and without an upgrade', async () => {
    for (const withUpgrade of [true, false]) {
      const request = { path: '/foo', lines: linesOf('hs-01'), upgrade: withUpgrade };
      const answer = await rawRequest(backend.agentPort, request);
      expect([answer.status, answer.body]).to.deep.equal([404, '404 page not found\n']);
    }
  });

  it('case 6: GET /ready is answered without credentials', async () => {
    const answer = await rawRequest(backend.agentPort, { path: '/ready', lines: [], upgrade: false });
    expect([answer.status, answer.body]).to.deep.equal([200, 'ready\n']);
    expect(answer.headers['content-type']).to.deep.equal(['text/plain; charset=utf-8']);
  });

  it('GET /health is answered with the health of the cluster', async () => {
    const answer = await rawRequest(backend.agentPort, { path: '/health', lines: [], upgrade: false });
    expect(answer.status).to.equal(200);
    expect(JSON.parse(answer.body)).to.have.nested.property('ClusterHealth[0].Healthy', true);
  });
});
