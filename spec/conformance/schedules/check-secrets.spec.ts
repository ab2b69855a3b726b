import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { BackendConfig } from '../../../src/config/backend.ts';
import { AgentClient, agentHeaders, jsonOf } from '../../support/agent-client.ts';
import type { ApiClient } from '../../support/api-client.ts';
import { CertificateAuthority, type IssuedCertificate } from '../../support/certificate-authority.ts';
import { keepalive } from '../../support/example-events.ts';
import { eventually } from '../../support/eventually.ts';
import { perSuite, perTest } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';
import { SubscribedAgent } from '../../support/subscribed-agent.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const VALUE = 'v4lue-of-the-variable';
const FIRST_TICK_MS = 6_679;
const CHECK = '/ns/default/checks/check-disk';
const SECRETS = '/api/enterprise/secrets/v1/namespaces/default/secrets';
const WARNING = 'secrets will not be transmitted to agents without mutual TLS authentication (mTLS)';
const variables = { KEY: VALUE, EMPTY: '' };

async function putSecret(api: ApiClient, name: string, id: string, provider = 'env'): Promise<void> {
  const metadata = { name, namespace: 'default' };
  const body = { type: 'Secret', api_version: 'secrets/v1', metadata, spec: { id, provider } };
  expect(await api.put(`${SECRETS}/${name}`, body)).to.have.property('status', 201);
}

async function putCheck(api: ApiClient, changes: object): Promise<void> {
  const metadata = { name: 'check-disk', namespace: 'default' };
  const check = { metadata, command: 'x', interval: 10, subscriptions: ['sys'], publish: true, ...changes };
  expect(await api.put(CHECK, check)).to.have.property('status', 201);
}

const namedOf = (...names: string[]) => names.map((secret) => ({ name: secret.toUpperCase(), secret }));

describe('a check with secrets', () => {
  const backend = perTest(() => RestartableBackend.start({ secrets: variables }));
  const api = perTest(() => backend.login());
  const agent = perTest(() => SubscribedAgent.register(backend, 'runner', 'sys'));

  const lastSkip = async (): Promise<unknown> =>
    at((await api.get('/api/mon/v1/namespaces/default/checks/check-disk/schedule')).json, 'last_skip');

  it('case 55: is requested from agents without mutual TLS, without its secrets, with a warning once a minute', async () => {
    await putSecret(api, 'token', 'KEY');
    await putCheck(api, { secrets: namedOf('token') });
    await backend.clock.settle();
    await backend.clock.advance(FIRST_TICK_MS);
    await backend.clock.advance(30_000);
    const requests = await agent.requests();
    expect(requests).to.have.length(4);
    for (const { request } of requests) {
      expect(request).to.not.have.property('secrets');
      expect(at(request, 'config', 'secrets')).to.deep.equal([{ name: 'TOKEN', secret: 'token' }]);
    }
    const warnings = backend.log.lines.filter(({ msg }) => msg === WARNING);
    expect(warnings).to.have.length(1);
    expect(warnings[0]?.fields).to.deep.include({ namespace: 'default', check: 'check-disk', sessions: 1 });
  });

  const missing: [what: string, spec: { id: string; provider?: string } | undefined, error: string][] = [
    ['does not exist', undefined, 'invalid secret info: token'],
    ['has another provider', { id: 'x', provider: 'vault' }, 'secret provider not found: vault'],
    ['has no value', { id: 'UNSET' }, 'secret not found: UNSET'],
    [
      'names a variable that the operator does not allow',
      { id: 'FORBIDDEN_KEY' },
      'secret not found: FORBIDDEN_KEY (not allowed by --secrets-env-allow)',
    ],
  ];
  for (const [what, spec, error] of missing) {
    it(`is requested from no agent while one of them ${what}, and its schedule and the ledger say so`, async () => {
      await putSecret(api, 'good', 'KEY');
      if (spec !== undefined) await putSecret(api, 'token', spec.id, spec.provider);
      await putCheck(api, { secrets: namedOf('good', 'token') });
      await backend.clock.settle();
      await backend.clock.advance(FIRST_TICK_MS);
      expect(await agent.requestCount()).to.equal(0);
      const detail = `secret "token": ${error}`;
      expect(await lastSkip()).to.deep.include({ reason: 'secrets not resolved', detail });
      const [entry] = (await api.ledger({ actor: 'checks', key: 'default/check-disk' })).slice(-1);
      expect(entry).to.deep.include({ event: 'tick.skipped', details: { reason: 'secrets not resolved', detail } });
      expect((await api.post(`${CHECK}/execute`, {})).status).to.equal(202);
      // Without mutual TLS an agent never receives secrets, so that a user's request goes out, as recorded.
      expect(await agent.requestCount()).to.equal(1);
      await putSecret(api, 'token', 'KEY');
      await backend.clock.advance(10_000);
      expect(await agent.requestCount()).to.equal(1);
    });
  }

  it('is requested for no entity either while one of them cannot be found', async () => {
    await putCheck(api, { secrets: namedOf('token'), proxy_requests: { entity_attributes: ['true'] } });
    await backend.clock.settle();
    await backend.clock.advance(FIRST_TICK_MS);
    expect(await agent.requestCount()).to.equal(0);
    expect(await lastSkip()).to.deep.include({ reason: 'secrets not resolved' });
  });
});

describe('a check with secrets, over mutual TLS,', function () {
  this.timeout(60_000);
  const directory = perSuite(temporaryDirectory, (made) => made.remove());
  let servers: CertificateAuthority;
  let client: IssuedCertificate;
  let tls: BackendConfig['tls'];

  before(() => {
    servers = new CertificateAuthority(directory.path, 'servers');
    const agents = new CertificateAuthority(directory.path, 'agents');
    const server = servers.issue('localhost');
    client = agents.issue('web-1', { names: '' });
    const file = (name: string, path: string) => ({ flag: `agent-auth-${name}`, path });
    const pair = { cert: file('cert-file', server.certFile), key: file('key-file', server.keyFile) };
    const agentAuth = { pair, ca: file('trusted-ca-file', agents.certFile), crlUrls: [], namesEntity: false };
    tls = { pair: undefined, agentAuth, trustedCa: undefined, skipsVerification: false };
  });

  const backend = perTest(() =>
    InProcessBackend.start({
      secrets: variables,
      configure: (config) => ({
        ...config,
        ...(tls && { tls }),
        stateDir: join(directory.path, `state-${randomUUID()}`),
      }),
    }),
  );

  async function connect(): Promise<AgentClient> {
    const { Authorization: _, 'Sensu-User': __, ...hello } = agentHeaders({ name: 'web-1', subscriptions: ['sys'] });
    const { cert, key } = client;
    return AgentClient.connectWith(backend.agentPort, hello, { tls: { ca: servers.cert, cert, key } });
  }

  it('is not requested by a user while one of them does not exist, and the log says so', async () => {
    const api = await backend.login();
    const agent = await connect();
    try {
      agent.send('keepalive', keepalive('web-1', { entity: { subscriptions: ['sys'] } }));
      await eventually(() => api.event('web-1', 'keepalive'));
      await putCheck(api, { secrets: namedOf('token') });
      expect((await api.post(`${CHECK}/execute`, {})).status).to.equal(202);
      const left = 'agents with mutual TLS did not receive the request of a user';
      const line = await eventually(() => backend.log.lines.find(({ msg }) => msg === left));
      expect(line?.fields).to.deep.include({
        check: 'check-disk',
        reason: 'secret "token": invalid secret info: token',
      });
    } finally {
      agent.terminate();
    }
    await backend.halt();
  });

  it('is requested with their values, without those that are empty; the values are in no file, log or answer', async () => {
    const api = await backend.login();
    await putSecret(api, 'token', 'KEY');
    await putSecret(api, 'empty', 'EMPTY');
    const agent = await connect();
    try {
      agent.send('keepalive', keepalive('web-1', { entity: { subscriptions: ['sys'] } }));
      await eventually(() => api.event('web-1', 'keepalive'));
      await putCheck(api, { secrets: namedOf('token', 'empty'), env_vars: ['A=b'] });
      expect((await api.post(`${CHECK}/execute`, {})).status).to.equal(202);
      let frame = await agent.nextFrame();
      while (frame.type !== 'check_request') frame = await agent.nextFrame();
      const request = jsonOf(frame);
      expect(request).to.deep.include({ secrets: [`TOKEN=${VALUE}`] });
      expect(at(request, 'config', 'secrets')).to.have.length(2);
      await backend.clock.settle();
      const read = await Promise.all(
        [SECRETS, `${SECRETS}/token`, CHECK, '/api/mon/v1/ledger', '/metrics'].map((path) => api.get(path)),
      );
      expect(read.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200, 200]);
      expect(JSON.stringify([read, backend.log.lines])).to.not.include(VALUE);
      expect(backend.log.lines.map(({ msg }) => msg)).to.not.include(WARNING);
    } finally {
      agent.terminate();
    }
    await backend.halt();
    const entries = await readdir(directory.path, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    const holding = [];
    for (const file of files) if ((await readFile(file)).includes(VALUE)) holding.push(file);
    expect([files.length > 0, holding]).to.deep.equal([true, []]);
  });
});
