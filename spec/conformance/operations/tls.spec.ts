import { createPrivateKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect as connectClear } from 'node:net';
import { duplexPair } from 'node:stream';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import { expect } from 'chai';
import type { BackendConfig } from '../../../src/config/backend.ts';
import { ConfigError } from '../../../src/config/parsing/flags.ts';
import { AgentClient, HandshakeRefused } from '../../support/agent-client.ts';
import { ADMIN, ApiClient } from '../../support/api-client.ts';
import { BackendProcess, runProgram } from '../../support/backend-process.ts';
import { CertificateAuthority, type IssuedCertificate } from '../../support/certificate-authority.ts';
import { eventually, inTime } from '../../support/eventually.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { checkEvent } from '../../support/example-events.ts';
import { perSuite, perTest } from '../../support/fixture.ts';
import { errorCodeOf, handshake, presentedFingerprint } from '../../support/tls-handshake.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** The files have been the same at two checks. */
const SETTLED_MS = 30_000;
const CIPHERS_OF_TLS_1_2 = ['AES256-GCM-SHA384', 'AES128-GCM-SHA256', 'CHACHA20-POLY1305'];

describe('listeners with TLS', function () {
  this.timeout(60_000);
  const directory = perSuite(temporaryDirectory, (made) => made.remove());
  let authority: CertificateAuthority;
  let server: IssuedCertificate;
  /** The files that the backend reads; tests overwrite them. */
  let certFile: string;
  let keyFile: string;

  before(() => {
    authority = new CertificateAuthority(directory.path, 'authority');
    server = authority.issue('localhost');
    [certFile, keyFile] = [join(directory.path, 'served.pem'), join(directory.path, 'served.key')];
  });

  const put = ({ cert, key }: IssuedCertificate): void => {
    writeFileSync(certFile, cert);
    writeFileSync(keyFile, key, { mode: 0o600 });
  };
  const withTls =
    (cert: string, key: string, trustedCa?: string) =>
    (config: BackendConfig): BackendConfig => ({
      ...config,
      tls: {
        pair: { cert: { flag: 'cert-file', path: cert }, key: { flag: 'key-file', path: key } },
        agentAuth: undefined,
        trustedCa: trustedCa === undefined ? undefined : { flag: 'trusted-ca-file', path: trustedCa },
        skipsVerification: false,
      },
    });

  const backend = perTest(() => {
    put(server);
    return InProcessBackend.start({ configure: withTls(certFile, keyFile) });
  });

  const trusting = () => ({ ca: authority.cert });

  /** The options of a client that trusts the authority. */
  const shake = (port: number, options: ConnectionOptions = {}) => handshake(port, { ...trusting(), ...options });

  /** Sends texts without TLS, each in a packet of its own, and resolves when the connection is closed. */
  async function clearText(port: number, ...texts: readonly string[]): Promise<{ answer: string; hadError: boolean }> {
    const socket = connectClear(port, '127.0.0.1').setNoDelay(true);
    const received: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => received.push(chunk));
    for (const text of texts) socket.write(text);
    const [hadError] = (await inTime(once(socket, 'close'), 'the end of the connection')) as [boolean];
    return { answer: Buffer.concat(received).toString(), hadError };
  }

  const refusals = async (): Promise<Record<string, unknown>[]> => {
    const admin = await ApiClient.login(backend.apiPort, ADMIN, trusting());
    const { json } = await admin.get('/api/mon/v1/handshake-refusals');
    admin.close();
    return json as Record<string, unknown>[];
  };

  it('serve the API by HTTPS and agents by wss with passwords', async () => {
    const agent = await AgentClient.connect(backend.agentPort, { name: 'web', tls: trusting() });
    await agent.next('entity_config');
    agent.send('event', checkEvent('web', 'disk'));
    const admin = await ApiClient.login(backend.apiPort, ADMIN, trusting());
    expect(await eventually(() => admin.event('web', 'disk'))).to.have.nested.property('check.metadata.name', 'disk');
    agent.terminate();
    admin.close();
  });

  it('are rejected by clients that do not trust their authority', async () => {
    const { cert: ca } = new CertificateAuthority(directory.path, 'other');
    expect(await errorCodeOf(ApiClient.login(backend.apiPort, ADMIN, { ca }))).to.equal(
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    );
    const connected = AgentClient.connect(backend.agentPort, { name: 'web', tls: { ca } });
    expect(await errorCodeOf(connected)).to.equal('UNABLE_TO_VERIFY_LEAF_SIGNATURE');
  });

  it('request no client certificate, and do not accept one instead of a password', async () => {
    const { cert, key } = authority.issue('web');
    const socket = await shake(backend.agentPort, { cert, key });
    const request = ['GET / HTTP/1.1', 'Host: localhost', 'Connection: close', '', ''].join('\r\n');
    socket.write(request);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).to.match(/^HTTP\/1\.1 401 .*missing credentials/s);
    socket.destroy();
  });

  for (const listener of ['apiPort', 'agentPort', 'dashboardPort'] as const) {
    describe(`(${listener})`, () => {
      it('speak TLS 1.3 and 1.2, and not 1.1', async () => {
        for (const maxVersion of ['TLSv1.3', 'TLSv1.2'] as const) {
          const socket = await shake(backend[listener], { maxVersion });
          expect(socket.getProtocol()).to.equal(maxVersion);
          socket.destroy();
        }
        const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
        const error = await shake(backend[listener], old).catch((caught: unknown) => caught);
        expect(String(error)).to.match(/alert protocol version/);
      });

      it('accept only suites with forward secrecy and authenticated encryption', async () => {
        const rsa = authority.issue('rsa', { key: 'rsa', subject: '/CN=localhost' });
        for (const [kind, issued] of [
          ['ECDSA', server],
          ['RSA', rsa],
        ] as const) {
          put(issued);
          await backend.clock.advance(SETTLED_MS);
          for (const suite of CIPHERS_OF_TLS_1_2) {
            const ciphers = `ECDHE-${kind}-${suite}`;
            const socket = await shake(backend[listener], { maxVersion: 'TLSv1.2', ciphers });
            expect(socket.getCipher().name).to.equal(ciphers);
            socket.destroy();
          }
        }
        for (const ciphers of ['ECDHE-RSA-AES128-SHA256', 'ECDHE-RSA-AES256-SHA', 'AES128-GCM-SHA256', 'AES256-SHA']) {
          const refused = shake(backend[listener], { maxVersion: 'TLSv1.2', ciphers });
          expect(await errorCodeOf(refused), ciphers).to.match(/EPROTO|ERR_SSL/);
        }
      });

      it("follow the client's order of preference", async () => {
        const [first, second] = ['ECDHE-ECDSA-CHACHA20-POLY1305', 'ECDHE-ECDSA-AES256-GCM-SHA384'];
        for (const [wanted, ciphers] of [
          [first, `${first}:${second}`],
          [second, `${second}:${first}`],
        ]) {
          const socket = await shake(backend[listener], { maxVersion: 'TLSv1.2', ciphers });
          expect(socket.getCipher().name).to.equal(wanted);
          socket.destroy();
        }
      });

      it('agree on a key by four curves only', async () => {
        for (const ecdhCurve of ['X25519', 'P-384', 'P-256', 'P-521']) {
          (await shake(backend[listener], { ecdhCurve })).destroy();
        }
        expect(await errorCodeOf(shake(backend[listener], { ecdhCurve: 'X448' }))).to.match(/ERR_SSL|EPROTO/);
      });

      it('answer unencrypted requests with 400 and a text, whatever their method', async () => {
        for (const method of ['GET', 'PUT', 'DELETE', 'PATCH', 'PRI']) {
          const { answer, hadError } = await clearText(
            backend[listener],
            `${method} / HTTP/1.1\r\nHost: localhost\r\n`,
          );
          expect(answer, method).to.match(/^HTTP\/1\.[01] 400 Bad Request\r\n(?:.+\r\n)*\r\n/);
          expect(answer, method).to.match(/Client sent an HTTP request to an HTTPS server\. Use (https|wss):\/\//);
          expect(hadError).to.equal(false);
        }
      });

      it('answer an unencrypted request whose bytes arrive one by one', async () => {
        const { answer } = await clearText(backend[listener], 'GET', ' / HTTP/1.1\r\n', 'Host: localhost\r\n\r\n');
        expect(answer).to.match(/^HTTP\/1\.[01] 400 Bad Request\r\n/);
      });

      it('complete a handshake whose first bytes arrive one by one', async () => {
        const clear = connectClear(backend[listener], '127.0.0.1');
        const [left, right] = duplexPair();
        left.on('data', (chunk: Buffer) => {
          for (const byte of chunk.subarray(0, 8)) clear.write(Buffer.of(byte));
          clear.write(chunk.subarray(8));
        });
        clear.setNoDelay(true).on('data', (chunk: Buffer) => left.write(chunk));
        const socket = connectTls({ socket: right, servername: 'localhost', ...trusting() });
        await inTime(once(socket, 'secureConnect'), 'a TLS handshake');
        socket.destroy();
        clear.destroy();
      });

      it('close connections without an answer that send neither TLS nor a request', async () => {
        const { answer } = await clearText(backend[listener], '\0\0\0\0\0\0\0\0');
        expect(answer).not.to.include('HTTP');
        for (const abrupt of [true, false]) {
          const silent = connectClear(backend[listener], '127.0.0.1');
          await once(silent, 'connect');
          if (abrupt) silent.resetAndDestroy();
          else silent.end();
          await inTime(once(silent, 'close'), 'the end of the connection');
        }
        (await shake(backend[listener])).destroy();
      });
    });
  }

  it('of the dashboard may have a certificate of its own', async () => {
    const own = authority.issue('dashboard', { subject: '/CN=localhost' });
    const pair = {
      cert: { flag: 'dashboard-cert-file', path: own.certFile },
      key: { flag: 'dashboard-key-file', path: own.keyFile },
    };
    const configure = (config: BackendConfig): BackendConfig => {
      const configured = withTls(certFile, keyFile)(config);
      return { ...configured, dashboard: { ...configured.dashboard, pair } };
    };
    const second = await InProcessBackend.start({ configure });
    const [shown, ofApi] = [second.dashboardPort, second.apiPort].map((port) => presentedFingerprint(port, trusting()));
    expect(await shown).to.not.equal(await ofApi);
    await second.stop();
  });

  it('list agents that are refused because of ws:// or an old TLS version', async () => {
    const unencrypted = await AgentClient.connect(backend.agentPort, { name: 'web' }).catch((error: unknown) => error);
    expect(unencrypted).to.be.instanceOf(HandshakeRefused).and.to.have.property('status', 400);
    const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    await errorCodeOf(shake(backend.agentPort, old));
    expect((await refusals()).map(({ address, status, reason }) => ({ address, status, reason }))).to.deep.equal([
      { address: '127.0.0.1', status: 400, reason: 'TLS handshake failed: unsupported protocol' },
      { address: '127.0.0.1', status: 400, reason: 'Client sent an HTTP request to an HTTPS server. Use wss://' },
    ]);
  });

  describe('with changed files', () => {
    const shown = (port: number) => presentedFingerprint(port, trusting());
    const shownByBoth = async () => [await shown(backend.apiPort), await shown(backend.agentPort)];
    const complaints = () => backend.log.errors.map(({ fields }) => String(fields['error']));

    it('present the new certificate to new connections and keep open ones', async () => {
      const agent = await AgentClient.connect(backend.agentPort, { name: 'web', tls: trusting() });
      const admin = await ApiClient.login(backend.apiPort, ADMIN, trusting());
      const [before] = await shownByBoth();
      put(authority.issue('renewed', { subject: '/CN=localhost' }));
      await backend.clock.advance(SETTLED_MS);
      const [api, agents] = await shownByBoth();
      expect(api).to.not.equal(before);
      expect(agents).to.equal(api);
      await agent.ping('still here');
      expect((await admin.get('/api/core/v2/namespaces')).status).to.equal(200);
      agent.terminate();
      admin.close();
    });

    it('wait until both the certificate and its key have changed', async () => {
      const [before] = await shownByBoth();
      const renewed = authority.issue('halves', { subject: '/CN=localhost' });
      writeFileSync(certFile, renewed.cert);
      await backend.clock.advance(SETTLED_MS / 2);
      writeFileSync(keyFile, renewed.key);
      await backend.clock.advance(SETTLED_MS);
      expect((await shownByBoth())[0]).to.not.equal(before);
      expect(complaints()).to.deep.equal([]);
    });

    const unusable: [string, () => void, RegExp][] = [
      ['are gone', () => writeFileSync(certFile, ''), /--cert-file .*served\.pem: holds no certificate in PEM/],
      [
        'do not belong together',
        () => copyFileSync(authority.issue('stranger').keyFile, keyFile),
        /--key-file .*served\.key: does not belong to the certificate .*served\.pem/,
      ],
      [
        'have expired',
        () => put(authority.issue('expired', { subject: '/CN=localhost', validFrom: -9, validTo: -1 })),
        /--cert-file .*served\.pem: has expired on/,
      ],
      [
        'hold a key that others may read',
        () => chmodSync(keyFile, 0o644),
        /--key-file .*served\.key: others than its owner may use the key, its mode is 0644: make it 0600/,
      ],
    ];
    for (const [how, spoil, complaint] of unusable) {
      it(`keep their certificate when the new ones ${how}, and log it once for each listener`, async () => {
        const before = await shownByBoth();
        spoil();
        await backend.clock.advance(5 * SETTLED_MS);
        expect(await shownByBoth()).to.deep.equal(before);
        expect(complaints()).to.have.lengthOf(2);
        for (const text of complaints()) expect(text).to.match(complaint);
        chmodSync(keyFile, 0o600);
        put(server);
        await backend.clock.advance(SETTLED_MS);
        expect(backend.log.lines.at(-1)).to.include({ msg: 'certificates loaded' });
      });
    }
  });

  describe('do not start', () => {
    const refused = async (cert: string, key: string, trustedCa?: string): Promise<string[]> => {
      try {
        const started = await InProcessBackend.start({ configure: withTls(cert, key, trustedCa) });
        await started.stop();
      } catch (error) {
        if (error instanceof ConfigError) return error.mistakes.map(({ flag, rule }) => `${flag} | ${rule}`);
        throw error;
      }
      throw new Error('it started');
    };

    it('without the files, and name each of them with its flag', async () => {
      const [cert, key, ca] = ['none.pem', 'none.key', 'none.ca'].map((name) => join(directory.path, name));
      const mistakes = await refused(cert ?? '', key ?? '', ca);
      for (const [index, name] of ['trusted-ca-file', 'cert-file', 'key-file'].entries()) {
        expect(mistakes[index]).to.match(new RegExp(`^${name} \\| --${name} .*none.*: cannot be read: ENOENT`));
      }
      expect(mistakes).to.have.lengthOf(3);
    });

    let junkFile: string;
    before(() => {
      junkFile = join(directory.path, 'junk');
      writeFileSync(junkFile, 'no key', { mode: 0o600 });
    });

    const cases: [string, () => [string, string, string?], RegExp][] = [
      ['with a file that is no certificate', () => [keyFile, keyFile], /cert-file .*: holds no certificate in PEM/],
      ['with a key that others may read', () => [certFile, certFile], /key-file .*: others than its owner may use/],
      [
        'with a file that is no key',
        () => [certFile, junkFile],
        /key-file .*: holds no private key without a passphrase/,
      ],
      ['with a directory', () => [directory.path, keyFile], /cert-file .*: cannot be read: is not a file/],
      ['with an authority of junk', () => [certFile, keyFile, keyFile], /trusted-ca-file .*: holds no certificate/],
      ...(
        [
          ['with a certificate that has expired', { validFrom: -9, validTo: -1 }, /cert-file .*: has expired on/],
          [
            'with a certificate that is not valid yet',
            { validFrom: 1, validTo: 9 },
            /cert-file .*: is not valid before/,
          ],
          [
            'with a certificate with a common name only',
            { names: '' },
            /common name localhost is not among its subject/,
          ],
          [
            'with a certificate for other names',
            { names: 'DNS:a.test' },
            /common name localhost is not among its subject/,
          ],
        ] as const
      ).map(([what, wanted, rule]): [string, () => [string, string], RegExp] => {
        const issue = (): [string, string] => {
          const issued = authority.issue('unusable', { subject: '/CN=localhost', ...wanted });
          return [issued.certFile, issued.keyFile];
        };
        return [what, issue, rule];
      }),
    ];
    for (const [what, files, rule] of cases) {
      it(what, async () => {
        const [mistake] = await refused(...files());
        expect(mistake).to.match(rule);
      });
    }

    it('while a key is encrypted', async () => {
      const key = join(directory.path, 'encrypted.key');
      const cipher = { cipher: 'aes-256-cbc', passphrase: 'x', type: 'pkcs8', format: 'pem' } as const;
      writeFileSync(key, createPrivateKey(server.key).export(cipher), { mode: 0o600 });
      expect(await refused(certFile, key)).to.match(/holds no private key without a passphrase in PEM/);
    });
  });

  describe('of the program', () => {
    let program: BackendProcess;

    afterEach(() => program.stop());

    const start = async (): Promise<void> => {
      program = await BackendProcess.start({ args: ['--cert-file', certFile, '--key-file', keyFile] });
    };

    it('load new certificates at SIGHUP without closing connections', async () => {
      await start();
      const agent = await AgentClient.connect(program.agentPort, { name: 'web', tls: trusting() });
      put(authority.issue('at-hangup', { subject: '/CN=localhost' }));
      const fresh = new X509Certificate(readFileSync(certFile)).fingerprint256;
      process.kill(program.pid, 'SIGHUP');
      const shown = () => presentedFingerprint(program.agentPort, trusting());
      await eventually(shown, (fingerprint) => fingerprint === fresh, { what: 'the new certificate' });
      await agent.ping('still here');
      agent.terminate();
    });

    it('let the program exit while clients hold handshakes open', async () => {
      await start();
      const sockets = [program.apiPort, program.agentPort].map((port) => connectClear(port, '127.0.0.1'));
      for (const socket of sockets) {
        socket.on('error', () => undefined);
        await once(socket, 'connect');
      }
      // The program handles signals once it answers.
      await presentedFingerprint(program.agentPort, trusting());
      expect(await program.stop()).to.equal(0);
      for (const socket of sockets) socket.destroy();
    });

    it('make the program exit with 1 and name the flag and the file when they cannot be used', async () => {
      await start();
      const args = ['--state-dir', join(directory.path, 'unused'), '--cert-file', keyFile, '--key-file', keyFile];
      const { code, stderr } = await runProgram(['start', ...args]);
      expect(code).to.equal(1);
      const line = JSON.parse(stderr.trim().split('\n').at(-1) ?? '') as object;
      expect(line).to.include({ level: 'fatal', flag: 'cert-file' });
      expect(line).to.have.property('error').that.includes(`--cert-file ${keyFile}: holds no certificate`);
    });
  });

  it('refuse a wrong password as in clear text', async () => {
    const credentials = { username: 'agent', password: 'wrong' };
    const refused = await AgentClient.connect(backend.agentPort, { name: 'web', credentials, tls: trusting() }).catch(
      (error: unknown) => error,
    );
    expect(refused).to.be.instanceOf(HandshakeRefused).and.include({ status: 401 });
  });
});
