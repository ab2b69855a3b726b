import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import type { BackendConfig } from '../../../src/config/backend.ts';
import { ConfigError } from '../../../src/config/parsing/flags.ts';
import { basicHeader } from '../../../src/wire/handshake.ts';
import { AGENT, AgentClient, agentHeaders, HandshakeRefused } from '../../support/agent-client.ts';
import { CertificateAuthority, derOf, type IssuedCertificate } from '../../support/certificate-authority.ts';
import { eventually, inTime } from '../../support/eventually.ts';
import { perSuite } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { errorCodeOf, handshake } from '../../support/tls-handshake.ts';

const REFRESH_MS = 60 * 60_000;

describe('the port for agents with mutual TLS', function () {
  this.timeout(60_000);
  const directory = perSuite(temporaryDirectory, (made) => made.remove());
  let servers: CertificateAuthority;
  let agents: CertificateAuthority;
  let server: IssuedCertificate;
  let client: IssuedCertificate;
  let backend: InProcessBackend | undefined;

  before(() => {
    servers = new CertificateAuthority(directory.path, 'servers');
    agents = new CertificateAuthority(directory.path, 'agents');
    server = servers.issue('localhost');
    client = agents.issue('web-1', { names: '' });
  });

  const configured =
    (crlUrls: readonly string[] = [], namesEntity = false) =>
    (config: BackendConfig): BackendConfig => {
      const file = (name: string, path: string) => ({ flag: `agent-auth-${name}`, path });
      const pair = { cert: file('cert-file', server.certFile), key: file('key-file', server.keyFile) };
      const agentAuth = { pair, ca: file('trusted-ca-file', agents.certFile), crlUrls, namesEntity };
      return { ...config, tls: { pair: undefined, agentAuth, trustedCa: undefined, skipsVerification: false } };
    };
  /** The API is in clear text; only the agent port has a certificate. */
  const start = async (crlUrls?: readonly string[]): Promise<InProcessBackend> => {
    backend = await InProcessBackend.start({ configure: configured(crlUrls) });
    return backend;
  };
  afterEach(async () => {
    await backend?.stop();
    backend = undefined;
  });

  const trusting = () => ({ ca: servers.cert });
  const showing = ({ cert, key }: IssuedCertificate) => ({ ...trusting(), cert, key });

  /** Connects like an agent with a certificate, without a password and a user name. */
  async function connect(issued: IssuedCertificate, headers: Record<string, string> = {}): Promise<AgentClient> {
    const { Authorization: _, 'Sensu-User': __, ...hello } = agentHeaders({ name: 'web-1' });
    const port = backend?.agentPort ?? 0;
    return AgentClient.connectWith(port, { ...hello, ...headers }, { tls: showing(issued) });
  }
  async function refusal(issued: IssuedCertificate, headers?: Record<string, string>): Promise<string> {
    const error = await connect(issued, headers).catch((caught: unknown) => caught);
    if (!(error instanceof HandshakeRefused)) throw new Error(`not refused by the handshake: ${String(error)}`);
    return `${error.status} ${error.body.trim()}`;
  }
  const reasons = async (): Promise<unknown[]> => {
    const admin = await backend?.login();
    const { json } = (await admin?.get('/api/mon/v1/handshake-refusals')) ?? {};
    return (json as { reason: string }[]).map(({ reason }) => reason);
  };
  /** The user of the agent's session. */
  const userOf = async (issued: IssuedCertificate): Promise<unknown> => {
    const agent = await connect(issued);
    await agent.next('entity_config');
    const admin = await backend?.login();
    const { json } = (await admin?.get('/api/mon/v1/sessions')) ?? {};
    agent.terminate();
    return (json as { user: string }[])[0]?.user;
  };

  describe('takes an agent by its certificate', () => {
    it('as the user agent when it has no common name or no user has it', async () => {
      await start();
      expect(await userOf(client)).to.equal('agent');
      expect(await userOf(agents.issue('unnamed', { subject: '/O=mon', names: 'DNS:web-1' }))).to.equal('agent');
    });

    it("as the user of its common name in the agents' group, even if the user agent is disabled", async () => {
      const admin = await (await start()).login();
      expect((await admin.delete('/api/core/v2/users/agent')).status).to.equal(204);
      expect(await userOf(client)).to.equal('agent');
    });

    it('as the user of its common name, with the rights of that user only', async () => {
      const admin = await (await start()).login();
      const put = (groups: string[]) =>
        admin.put('/api/core/v2/users/web-1', { username: 'web-1', password: 'a-long-password', groups });
      expect((await put(['system:agents'])).status).to.be.within(200, 201);
      expect(await userOf(client)).to.equal('web-1');
      expect((await put(['nothing'])).status).to.be.within(200, 201);
      expect(await refusal(client)).to.equal('403 Forbidden');
    });

    it('but refuses it when the user of its common name is disabled', async () => {
      const admin = await (await start()).login();
      const user = { username: 'web-1', password: 'a-long-password', groups: ['system:agents'] };
      await admin.put('/api/core/v2/users/web-1', user);
      await admin.delete('/api/core/v2/users/web-1');
      expect(await refusal(client)).to.equal('401 bad credentials');
    });

    it('but refuses it when it has two common names', async () => {
      await start();
      const twofold = agents.issue('twofold', { subject: '/CN=web-1/CN=admin', names: '' });
      expect(await refusal(twofold)).to.equal('401 the client certificate has more than one common name');
    });

    it('under any name, unless the certificate names the entity', async () => {
      await start();
      (await connect(client, { 'Sensu-AgentName': 'web-2' })).terminate();
    });

    it('but refuses a password, even the right one beside a certificate', async () => {
      await start();
      expect(await refusal(client, { Authorization: basicHeader(AGENT) })).to.match(
        /^401 this port requires a client certificate/,
      );
    });
  });

  describe('takes an agent only under the common name of its certificate, if certificates name entities,', () => {
    beforeEach(async () => {
      backend = await InProcessBackend.start({ configure: configured([], true) });
    });

    it('and refuses another name', async () => {
      (await connect(client)).terminate();
      const text = 'the client certificate names web-1, not web-2';
      expect(await refusal(client, { 'Sensu-AgentName': 'web-2' })).to.equal(`403 ${text}`);
      expect(await reasons()).to.deep.equal([text]);
    });

    it('even if a user has the same name', async () => {
      const admin = await backend?.login();
      const user = { username: 'web-1', password: 'a-long-password', groups: ['system:agents'] };
      await admin?.put('/api/core/v2/users/web-1', user);
      expect(await refusal(client, { 'Sensu-AgentName': 'web-2' })).to.match(/^403 the client certificate names web-1/);
      expect(await userOf(client)).to.equal('web-1');
    });

    it('and refuses a certificate without a common name', async () => {
      expect(await refusal(agents.issue('unnamed', { subject: '/O=mon', names: 'DNS:web-1' }))).to.equal(
        '403 the client certificate has no common name; it must be the agent name',
      );
    });

    it('and answers without control characters of the name', async () => {
      expect(await refusal(client, { 'Sensu-AgentName': 'web\u009b2J' })).to.equal(
        '403 the client certificate names web-1, not web\\u{9b}2J',
      );
    });
  });

  describe('ends the handshake of a client', () => {
    it('without a certificate, for every path', async () => {
      const { agentPort } = await start();
      expect(await errorCodeOf(AgentClient.connect(agentPort, { name: 'web-1', tls: trusting() }))).to.match(
        /CERTIFICATE_REQUIRED/,
      );
      const old = { ...trusting(), maxVersion: 'TLSv1.2' } as const;
      expect(await errorCodeOf(AgentClient.connect(agentPort, { name: 'web-1', tls: old }))).to.match(/EPROTO|ERR_SSL/);
      expect(await reasons()).to.deep.equal(['no client certificate']);
    });

    const untrusted: [string, () => IssuedCertificate, string][] = [
      [
        'whose certificate is of another authority',
        () => servers.issue('foreign', { names: '' }),
        'SELF_SIGNED_CERT_IN_CHAIN',
      ],
      [
        'whose certificate has expired',
        () => agents.issue('late', { names: '', validFrom: -9, validTo: -1 }),
        'CERT_HAS_EXPIRED',
      ],
      [
        'whose certificate is not valid yet',
        () => agents.issue('early', { names: '', validFrom: 1, validTo: 9 }),
        'CERT_NOT_YET_VALID',
      ],
    ];
    for (const [who, issue, code] of untrusted) {
      it(`${who}, and lists the reason`, async () => {
        await start();
        expect(await errorCodeOf(connect(issue()))).to.match(/ECONNRESET/);
        expect(await reasons()).to.deep.equal([`the client certificate is not trusted: ${code}`]);
      });
    }

    it('and resumes no session, because the certificate may have been revoked', async () => {
      const { agentPort } = await start();
      for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
        const first = await handshake(agentPort, { ...showing(client), maxVersion });
        let session: Buffer | undefined = first.getSession();
        first.on('session', (newer: Buffer) => (session = newer));
        // Data after the handshake is read together with the answer.
        first.end('GET /nothing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
        first.resume();
        await inTime(once(first, 'close'), 'the end of the first connection');
        const second = await handshake(agentPort, { ...showing(client), maxVersion, session });
        expect(second.isSessionReused(), maxVersion).to.equal(false);
        second.destroy();
      }
    });
  });

  describe('with lists of revoked certificates', () => {
    let web: Server;
    let url: string;
    /** The answer of the server that publishes the lists. */
    let answer: { status: number; body: Buffer };

    beforeEach(async () => {
      web = createServer((_request, response) => {
        response.writeHead(answer.status).end(answer.body);
      });
      web.listen(0, '127.0.0.1');
      await once(web, 'listening');
      url = `http://127.0.0.1:${(web.address() as AddressInfo).port}/agents.crl`;
    });
    afterEach(async () => {
      web.closeAllConnections();
      web.close();
      await once(web, 'close');
    });

    const isLetIn = async (issued: IssuedCertificate): Promise<boolean> => {
      try {
        (await connect(issued)).terminate();
        return true;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
        return false;
      }
    };
    const revoked = (): IssuedCertificate => {
      const issued = agents.issue(`revoked-${performance.now()}`, { names: '' });
      agents.revoke(issued);
      return issued;
    };

    it('admits clients that are not on a list, in DER or PEM, from a server or a file', async () => {
      const lost = revoked();
      const pem = agents.revocationList();
      const file = join(directory.path, 'list.crl');
      for (const body of [Buffer.from(pem), derOf(pem)]) {
        answer = { status: 200, body };
        writeFileSync(file, body);
        for (const place of [url, pathToFileURL(file).href]) {
          await start([place]);
          expect(await isLetIn(client), place).to.equal(true);
          expect(await isLetIn(lost), place).to.equal(false);
          expect(await reasons()).to.deep.equal(['the client certificate is not trusted: CERT_REVOKED']);
          await backend?.stop();
        }
      }
    });

    it('fetches the lists every hour and at SIGHUP, and keeps the old ones when that fails', async () => {
      const lost = agents.issue('lost', { names: '' });
      answer = { status: 200, body: Buffer.from(agents.revocationList()) };
      const running = await start([url]);
      const { clock, log } = running;
      expect(await isLetIn(lost)).to.equal(true);
      agents.revoke(lost);
      const listed = Buffer.from(agents.revocationList());
      answer = { status: 200, body: listed };
      await clock.advance(REFRESH_MS);
      await eventually(() => log.lines.some(({ msg }) => msg === 'certificates loaded'));
      expect(await isLetIn(lost)).to.equal(false);
      for (const broken of [
        { status: 404, body: listed },
        { status: 200, body: Buffer.from('<html>moved</html>') },
        { status: 200, body: Buffer.alloc(11 * 1024 * 1024, 0x30) },
      ]) {
        answer = broken;
        await running.reloadCertificates();
        expect(await isLetIn(lost)).to.equal(false);
        expect(await isLetIn(client)).to.equal(true);
      }
      expect(log.errors.map(({ fields }) => String(fields['error']).replace(url, 'URL'))).to.deep.equal([
        'URL: answered with status 404',
        'URL: is not a list of revoked certificates in DER or PEM',
        'URL: is larger than 10485760 bytes',
      ]);
    });

    it('refuses all clients when a list is past its date', async () => {
      answer = { status: 200, body: Buffer.from(agents.revocationList(-1)) };
      await start([url]);
      expect(await isLetIn(client)).to.equal(false);
      expect(await reasons()).to.deep.equal(['the client certificate is not trusted: CRL_HAS_EXPIRED']);
    });

    it('does not begin to listen without one of the lists, and names it', async () => {
      answer = { status: 503, body: Buffer.alloc(0) };
      const missing = pathToFileURL(join(directory.path, 'missing.crl')).href;
      const error = await start([url.replace('//', '//joe:h1dden@'), missing]).catch((caught: unknown) => caught);
      if (!(error instanceof ConfigError)) throw error;
      const [first, second] = error.mistakes;
      expect(first).to.deep.equal({
        flag: 'agent-auth-crl-urls',
        rule: `agent-auth-crl-urls ${url}: answered with status 503`,
      });
      expect(second?.rule).to.match(/missing\.crl: ENOENT/);
    });

    it('limits the time that it waits for a server', async () => {
      web.removeAllListeners('request');
      const asked = once(web, 'request');
      const clock = new ManualClock();
      const starting = InProcessBackend.start({ clock, configure: configured([url]) }).catch((error: unknown) => error);
      await inTime(asked, 'a request for the list', 15_000);
      await clock.advance(10_000);
      expect(String(await starting)).to.match(/agents\.crl: no list within 10 seconds/);
    });
  });
});
