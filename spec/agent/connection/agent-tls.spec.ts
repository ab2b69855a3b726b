import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { expect } from 'chai';
import type { BackendConfig } from '../../../src/config/backend.ts';
import { CertificateAuthority, type IssuedCertificate } from '../../support/certificate-authority.ts';
import { eventually } from '../../support/eventually.ts';
import { perSuite } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { InProcessAgent } from '../in-process-agent.ts';
import { FakeBackend } from '../fake-backend.ts';

const RETRY = ['--retry-min', '100ms', '--retry-max', '100ms'];

describe('an agent at a backend with TLS', function () {
  this.timeout(60_000);
  const directory = perSuite(temporaryDirectory, (made) => made.remove());
  let servers: CertificateAuthority;
  let clients: CertificateAuthority;
  let server: IssuedCertificate;
  let client: IssuedCertificate;
  let backend: InProcessBackend | undefined;
  const agents: InProcessAgent[] = [];

  before(() => {
    servers = new CertificateAuthority(directory.path, 'servers');
    clients = new CertificateAuthority(directory.path, 'clients');
    server = servers.issue('localhost');
    client = clients.issue('web-1', { names: '' });
  });
  afterEach(async () => {
    for (const agent of agents.splice(0)) await agent.kill();
    await backend?.stop();
    backend = undefined;
  });

  /** Its port for agents wants certificates if it is given an authority of them. */
  async function startBackend(authority?: CertificateAuthority): Promise<InProcessBackend> {
    const pair = {
      cert: { flag: 'cert-file', path: server.certFile },
      key: { flag: 'key-file', path: server.keyFile },
    };
    const agentAuth = authority && {
      pair,
      ca: { flag: 'agent-auth-trusted-ca-file', path: authority.certFile },
      crlUrls: [],
      namesEntity: false,
    };
    const configure = (config: BackendConfig): BackendConfig => ({
      ...config,
      // The API stays in clear text where agents have a pair of their own.
      tls: { pair: agentAuth ? undefined : pair, agentAuth, trustedCa: undefined, skipsVerification: false },
    });
    backend = await InProcessBackend.start({ configure });
    return backend;
  }

  function startAgent(...flags: string[]): InProcessAgent {
    const agent = InProcessAgent.start(`wss://127.0.0.1:${backend?.agentPort}`, ...RETRY, ...flags);
    agents.push(agent);
    return agent;
  }
  const connected = (agent: InProcessAgent): Promise<unknown> =>
    eventually(() => agent.log.find(({ msg }) => msg === 'successfully connected'), Boolean, {
      what: `a connection; the log is ${agent.stderr}`,
      withinMs: 20_000,
    });
  const connectionError = async (agent: InProcessAgent): Promise<unknown> => {
    const ask = () => agent.log.find(({ msg }) => msg === 'reconnection attempt failed');
    return (await eventually(ask, Boolean, { what: 'an attempt that fails', withinMs: 20_000 }))?.['error'];
  };
  const showing = ({ certFile, keyFile }: IssuedCertificate) => ['--cert-file', certFile, '--key-file', keyFile];
  const trusting = () => ['--trusted-ca-file', servers.certFile];

  it('connects with its password when it is given the certificate authority', async () => {
    await startBackend();
    const agent = startAgent(...trusting());
    await connected(agent);
    expect(agent.log.map(({ msg }) => msg)).to.include('using password auth');
  });

  it('rejects a backend whose authority is not among the given ones, which replace the defaults', async () => {
    await startBackend();
    const text = 'the certificate of the backend is not trusted';
    expect(await connectionError(startAgent())).to.include(text);
    expect(await connectionError(startAgent('--trusted-ca-file', clients.certFile))).to.include(text);
  });

  it('skips the verification of the backend when configured so, and logs a warning', async () => {
    await startBackend();
    const agent = startAgent('--insecure-skip-tls-verify');
    await connected(agent);
    const warned = agent.log.find(({ msg }) => msg === 'certificates of backends are not verified');
    expect(warned).to.include({ level: 'warning', flag: 'insecure-skip-tls-verify' });
  });

  it('presents its certificate instead of a password', async () => {
    const admin = await (await startBackend(clients)).login();
    const agent = startAgent(...trusting(), ...showing(client));
    await connected(agent);
    const { json } = await admin.get('/api/mon/v1/sessions');
    expect(json).to.have.nested.property('[0].user', 'agent');
    expect(agent.log.map(({ msg }) => msg)).to.include('using tls client auth');
  });

  it('sends no password without TLS when it has a certificate', async () => {
    const fake = await FakeBackend.start();
    try {
      const agent = InProcessAgent.start(fake.url, ...showing(client));
      agents.push(agent);
      const { headers } = await fake.ready();
      expect(headers).to.not.have.any.keys('authorization', 'sensu-user', 'mon-user');
      expect(headers).to.include({ 'sensu-agentname': 'tester', accept: 'application/octet-stream' });
    } finally {
      await fake.stop();
    }
  });

  it('logs that the backend requires a certificate', async () => {
    await startBackend(clients);
    const wanted = 'the backend rejected the certificate of this agent, or requires one';
    expect(await connectionError(startAgent(...trusting()))).to.include(wanted);
  });

  it('logs that its certificate may have been rejected when the backend hangs up', async () => {
    await startBackend(clients);
    const late = clients.issue('late', { names: '', validFrom: -9, validTo: -1 });
    const closed =
      'the connection was closed without an answer; the backend may have rejected the certificate of this agent';
    expect(await connectionError(startAgent(...trusting(), ...showing(late)))).to.equal(closed);
  });

  it('uses a new certificate at its next attempt', async () => {
    await startBackend(clients);
    const late = clients.issue('renewing', { names: '', validFrom: -9, validTo: -1 });
    const agent = startAgent(...trusting(), ...showing(late));
    await connectionError(agent);
    writeFileSync(late.certFile, client.cert);
    const complaint = () =>
      agent.log.find(({ msg }) => msg === 'certificates cannot be used, the previous ones stay in use');
    const line = await eventually(complaint, Boolean, { what: 'a line about the half', withinMs: 20_000 });
    expect(line?.['error']).to.equal(`--key-file ${late.keyFile}: does not belong to the certificate ${late.certFile}`);
    writeFileSync(late.keyFile, client.key);
    await connected(agent);
  });

  it('requires TLS 1.2 or later', async () => {
    const old = createTlsServer({
      cert: server.cert,
      key: server.key,
      minVersion: 'TLSv1.1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    });
    old.listen(0, '127.0.0.1');
    await once(old, 'listening');
    try {
      const url = `wss://127.0.0.1:${(old.address() as AddressInfo).port}`;
      const agent = InProcessAgent.start(url, ...RETRY, ...trusting());
      agents.push(agent);
      expect(await connectionError(agent)).to.match(/unsupported protocol|protocol version/);
    } finally {
      old.close();
      await once(old, 'close');
    }
  });

  describe('does not start', () => {
    const mistakeOf = async (...flags: string[]): Promise<Record<string, unknown>> => {
      const agent = InProcessAgent.start('wss://127.0.0.1:1', ...flags);
      agents.push(agent);
      expect(await agent.ended()).to.equal(1);
      return agent.log.at(-1) ?? {};
    };

    const cases: [string, () => string[], string, RegExp][] = [
      [
        'with a file of authorities that is not there',
        () => ['--trusted-ca-file', join(directory.path, 'none.pem')],
        'trusted-ca-file',
        /none\.pem: cannot be read: ENOENT/,
      ],
      [
        'with one that holds none',
        () => ['--trusted-ca-file', client.keyFile],
        'trusted-ca-file',
        /web-1\.key: holds no certificate in PEM/,
      ],
      [
        'with a certificate that is not there',
        () => ['--cert-file', join(directory.path, 'none.pem'), '--key-file', client.keyFile],
        'cert-file',
        /none\.pem: cannot be read: ENOENT/,
      ],
      ['with a key alone', () => ['--key-file', client.keyFile], 'cert-file', /both flags --cert-file & --key-file/],
      [
        'with a key that does not belong to the certificate',
        () => ['--cert-file', client.certFile, '--key-file', server.keyFile],
        'key-file',
        /localhost\.key: does not belong to the certificate .*web-1\.pem/,
      ],
    ];
    for (const [what, flags, flag, error] of cases) {
      it(what, async () => {
        const line = await mistakeOf(...flags());
        expect(line).to.include({ level: 'fatal', flag });
        expect(line['error']).to.match(error);
      });
    }
  });
});
