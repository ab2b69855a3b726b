import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { CertificateAuthority } from '../../support/certificate-authority.ts';
import { ConnectProxy } from '../../support/connect-proxy.ts';
import { eventually } from '../../support/eventually.ts';
import { perSuite } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { AgentProcess, testerFlags } from '../agent-process.ts';
import { FakeBackend } from '../fake-backend.ts';
import { InProcessAgent, type RunningAgent } from '../in-process-agent.ts';

const RETRY = ['--retry-min', '100ms', '--retry-max', '100ms'];
/** A name that only the proxies of these tests know: they connect to loopback. */
const NAME = 'backend.example.invalid';

describe('an agent behind an HTTP proxy', function () {
  this.timeout(60_000);
  const directory = perSuite(temporaryDirectory, (made) => made.remove());
  let proxy: ConnectProxy;
  let backend: FakeBackend | InProcessBackend | undefined;
  let agent: RunningAgent;

  afterEach(async () => {
    await agent.kill();
    await backend?.stop();
    backend = undefined;
    await proxy.stop();
  });

  const portOf = (fake: FakeBackend): string => new URL(fake.url).port;

  function startAgent(url: string, environment: Record<string, string>, ...flags: string[]): void {
    agent = new InProcessAgent(testerFlags(url, [...RETRY, ...flags]), environment);
  }

  const failure = async (): Promise<unknown> => {
    const ask = () => agent.log.find(({ msg }) => msg === 'reconnection attempt failed');
    return (await eventually(ask, Boolean, { what: 'an attempt that fails', withinMs: 20_000 }))?.['error'];
  };

  it('reaches a backend without TLS through it, with the credentials of its URL', async () => {
    proxy = await ConnectProxy.start({ credentials: 'joe:a b', host: '127.0.0.1' });
    const fake = await FakeBackend.start();
    backend = fake;
    const environment = { HTTP_PROXY: `http://joe:a%20b@${proxy.address}` };
    agent = new AgentProcess(testerFlags(`ws://${NAME}:${portOf(fake)}`, RETRY), environment);
    await fake.ready();
    expect(proxy.asked).to.deep.equal([`${NAME}:${portOf(fake)}`]);
    const connected = agent.log.find(({ msg }) => msg === 'successfully connected');
    expect(connected).to.include({ proxy: `http://${proxy.address}` });
    expect(agent.stderr).to.not.include('a%20b');
    expect(await agent.stop()).to.equal(0);
    expect(fake.current?.closed).to.deep.equal({ code: 1001, reason: 'bye' });
  });

  for (const isSecure of [false, true]) {
    it(`reaches a backend with TLS through one ${isSecure ? 'with' : 'without'} TLS, and verifies the backend`, async () => {
      const authority = new CertificateAuthority(directory.path, `authority-${isSecure}`);
      const { certFile, keyFile } = authority.issue('localhost', { names: `DNS:localhost,DNS:${NAME},IP:127.0.0.1` });
      const pem = { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
      proxy = await ConnectProxy.start({ host: '127.0.0.1', ...(isSecure ? { tls: pem } : {}) });
      const pair = { cert: { flag: 'cert-file', path: certFile }, key: { flag: 'key-file', path: keyFile } };
      const tls = { pair, agentAuth: undefined, trustedCa: undefined, skipsVerification: false };
      const started = await InProcessBackend.start({ configure: (config) => ({ ...config, tls }) });
      backend = started;
      const HTTPS_PROXY = `${isSecure ? 'https' : 'http'}://${proxy.address}`;
      startAgent(`wss://${NAME}:${started.agentPort}`, { HTTPS_PROXY }, '--trusted-ca-file', authority.certFile);
      await eventually(() => agent.log.find(({ msg }) => msg === 'successfully connected'), Boolean, {
        what: `a connection; the log is ${agent.stderr}`,
        withinMs: 20_000,
      });
      expect(proxy.asked).to.deep.equal([`${NAME}:${started.agentPort}`]);
      await agent.kill();
      startAgent(
        `wss://other.example.invalid:${started.agentPort}`,
        { HTTPS_PROXY },
        '--trusted-ca-file',
        authority.certFile,
      );
      expect(await failure()).to.include('the certificate of the backend is not trusted');
    });
  }

  it('logs that the proxy refuses its credentials, and tries again', async () => {
    proxy = await ConnectProxy.start({ credentials: 'joe:right' });
    startAgent(`ws://${NAME}:8081`, { HTTP_PROXY: `http://joe:wrong@${proxy.address}` });
    const text = `the proxy http://${proxy.address} refused to connect to ${NAME}:8081: status 407 Proxy Authentication Required`;
    expect(await failure()).to.equal(text);
    await eventually(() => proxy.asked.length > 2, Boolean, { withinMs: 10_000 });
    expect(agent.stderr).to.not.include('wrong');
  });

  it('logs that the proxy cannot be reached', async () => {
    proxy = await ConnectProxy.start();
    startAgent(`ws://${NAME}:8081`, { HTTP_PROXY: '127.0.0.1:1' });
    const text = 'the connection to the proxy http://127.0.0.1:1 failed: connect ECONNREFUSED 127.0.0.1:1';
    expect(await failure()).to.equal(text);
  });

  it('gives up a proxy that does not answer, and leaves no connection to it open', async () => {
    proxy = await ConnectProxy.start({ stalls: true });
    startAgent(`ws://${NAME}:8081`, { HTTP_PROXY: `http://${proxy.address}` }, '--backend-handshake-timeout', '1');
    expect(await failure()).to.equal('the backend did not answer the handshake in time');
    await eventually(() => proxy.asked.length > 1, Boolean, { withinMs: 10_000 });
    expect(proxy.open).to.be.at.most(1);
  });

  it('bypasses it for the hosts of NO_PROXY', async () => {
    proxy = await ConnectProxy.start();
    startAgent('ws://backend.example.invalid:8081', { HTTP_PROXY: `http://${proxy.address}`, NO_PROXY: '.invalid' });
    expect(await failure()).to.match(/no such host|EAI_AGAIN/);
    expect(proxy.asked).to.deep.equal([]);
  });

  it('does not start with a proxy that it cannot use', async () => {
    proxy = await ConnectProxy.start();
    startAgent(`ws://${NAME}:8081`, { HTTP_PROXY: 'socks5://127.0.0.1:1080' });
    expect(await agent.ended()).to.equal(1);
    const error = 'HTTP_PROXY must have http:// or https:// scheme, not socks5://';
    expect(agent.log.at(-1)).to.include({ level: 'fatal', error });
  });
});
