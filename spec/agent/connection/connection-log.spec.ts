import { once } from 'node:events';
import { type AddressInfo, createServer as createPlainServer, type Server } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { SELF_SIGNED } from '../../support/self-signed-certificate.ts';
import { InProcessAgent } from '../in-process-agent.ts';
import { FakeBackend } from '../fake-backend.ts';

const FAILED = 'reconnection attempt failed';

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** A loopback port without a listener. */
async function closedPort(): Promise<number> {
  const server = createPlainServer();
  const port = await listening(server);
  server.close();
  await once(server, 'close');
  return port;
}

describe("an agent's log of attempts that fail", function () {
  this.timeout(30_000);
  const agents: InProcessAgent[] = [];
  const closers: (() => Promise<unknown> | void)[] = [];

  afterEach(async () => {
    for (const agent of agents.splice(0)) await agent.kill();
    for (const close of closers.splice(0)) await close();
  });

  /** At the level that is usual, it logs nothing but these lines. */
  async function linesOf(url: string, attempts: number, ...flags: string[]): Promise<Record<string, unknown>[]> {
    const agent = InProcessAgent.start(
      url,
      '--log-level',
      'info',
      '--retry-min',
      '100ms',
      '--retry-max',
      '100ms',
      ...flags,
    );
    agents.push(agent);
    const ofAttempts = () => agent.log.filter((line) => 'backend-url' in line);
    const lines = await eventually(ofAttempts, (found) => found.length >= attempts, {
      what: `${attempts} lines about attempts`,
      withinMs: 20_000,
    });
    expect(agent.stderr).to.not.include('h1dden');
    return lines;
  }

  const serving = async (server: Server): Promise<number> => {
    closers.push(() => void server.close());
    return listening(server);
  };

  it('has one line for each refused connection, with the URL and without its password', async () => {
    const port = await closedPort();
    const lines = await linesOf(`ws://joe:h1dden@127.0.0.1:${port}/?token=h1dden`, 3, '--password', 'h1dden');
    for (const { level, msg, error, 'backend-url': url } of lines) {
      expect({ level, msg, error, url }).to.deep.equal({
        level: 'error',
        msg: FAILED,
        error: `dial tcp 127.0.0.1:${port}: connect: connection refused`,
        url: `ws://127.0.0.1:${port}`,
      });
    }
  });

  it('has one line with the status and the body of a refused handshake', async () => {
    const backend = await FakeBackend.start({ refuseWith: 403 });
    closers.push(() => backend.stop());
    const lines = await linesOf(backend.url, 2);
    for (const line of lines) {
      expect(line).to.include({
        msg: FAILED,
        error: 'handshake failed with status 403: no entry',
        'backend-url': backend.url,
      });
    }
    expect(backend.attemptsMs.length).to.be.within(lines.length, lines.length + 1);
  });

  it('has one line that names an untrusted certificate', async () => {
    const port = await serving(createTlsServer(SELF_SIGNED));
    for (const line of await linesOf(`wss://127.0.0.1:${port}`, 2)) {
      expect(line).to.include({
        msg: FAILED,
        error: 'the certificate of the backend is not trusted: self-signed certificate (DEPTH_ZERO_SELF_SIGNED_CERT)',
        'backend-url': `wss://127.0.0.1:${port}`,
      });
    }
  });

  it('says that the backend does not speak TLS', async () => {
    const backend = await FakeBackend.start();
    closers.push(() => backend.stop());
    const [line] = await linesOf(backend.url.replace('ws:', 'wss:'), 1);
    expect(line?.['error']).to.equal('the backend does not speak TLS on this port; try ws://');
  });

  it('says that the backend requires TLS', async () => {
    const port = await serving(createTlsServer(SELF_SIGNED));
    const [line] = await linesOf(`ws://127.0.0.1:${port}`, 1);
    expect(line?.['error']).to.equal('the connection was closed without an answer; a TLS port requires wss://');
  });

  it('says that a backend did not answer in time', async () => {
    const backend = await FakeBackend.start({ stalls: true });
    closers.push(() => backend.stop());
    const [line] = await linesOf(backend.url, 1, '--backend-handshake-timeout', '1');
    expect(line).to.include({ msg: FAILED, error: 'the backend did not answer the handshake in time' });
  });

  it('has no line for an attempt that a stop aborts', async () => {
    const backend = await FakeBackend.start({ stalls: true });
    closers.push(() => backend.stop());
    const agent = InProcessAgent.start(backend.url);
    agents.push(agent);
    await eventually(() => backend.attemptsMs.length > 0, Boolean, { withinMs: 10_000 });
    expect(await agent.stop()).to.equal(0);
    expect(agent.log.map(({ msg }) => msg)).to.not.include(FAILED);
  });
});
