import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { expect } from 'chai';
import { ConnectionBound } from '../../../src/main/serve/connection-bound.ts';
import { ConnectionRefusal } from '../../../src/main/serve/connection-refusal.ts';
import { listen } from '../../../src/main/serve/listen.ts';
import { eventually } from '../../support/eventually.ts';
import { perTest } from '../../support/fixture.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { RecordedLog } from '../../support/recorded-log.ts';
import { SELF_SIGNED } from '../../support/self-signed-certificate.ts';

const LIMIT = 5;
/** Connections above the bound that are answered at the same time. */
const ANSWERED = 16;

/** A server whose answers name what the bound says about their connection. */
class BoundServer {
  readonly clock = new ManualClock();
  readonly log = new RecordedLog();
  readonly bound: ConnectionBound;
  readonly server: Server;
  readonly #sockets: Socket[] = [];
  readonly #isTls: boolean;

  private constructor(isTls: boolean) {
    this.#isTls = isTls;
    this.bound = new ConnectionBound({ port: 'api', limit: LIMIT, clock: this.clock, log: this.log });
    this.server = isTls ? createTlsServer(SELF_SIGNED) : createServer();
    this.bound.guard(this.server);
    const refusal = new ConnectionRefusal(LIMIT);
    this.server.on('request', (request, response) => {
      if (this.bound.isRefused(request.socket)) refusal.answer(request, response);
      else response.end('accepted');
    });
    this.server.on('upgrade', (request, socket) => {
      if (this.bound.isRefused(request.socket)) refusal.answerUpgrade(socket);
      else socket.destroy();
    });
  }

  static async start(isTls: boolean): Promise<BoundServer> {
    const bound = new BoundServer(isTls);
    await listen(bound.server, { host: '127.0.0.1', port: 0 });
    return bound;
  }

  /** Opens a connection to the end of its handshake, or to its end. */
  async connect(): Promise<Socket> {
    const { port } = this.server.address() as AddressInfo;
    const host = '127.0.0.1';
    const socket = this.#isTls ? connectTls({ port, host, ca: SELF_SIGNED.cert }) : connect({ port, host });
    this.#sockets.push(socket);
    socket.on('error', () => undefined);
    const opened = once(socket, this.#isTls ? 'secureConnect' : 'connect').catch(() => undefined);
    await Promise.race([opened, once(socket, 'close').catch(() => undefined)]);
    return socket;
  }

  async fill(): Promise<Socket[]> {
    const idle: Socket[] = [];
    for (let n = 0; n < LIMIT; n += 1) idle.push(await this.connect());
    await eventually(() => this.bound.stats.used === LIMIT);
    return idle;
  }

  stop(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.server.closeAllConnections();
    this.server.close();
  }
}

/** The text that the socket receives to its end, after it has sent the request. */
async function exchange(socket: Socket, request: string): Promise<string> {
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  socket.write(request);
  await once(socket, 'close');
  return text;
}

const GET = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';

for (const isTls of [false, true]) {
  describe(`connections above the bound of a server ${isTls ? 'with' : 'without'} TLS`, () => {
    const server = perTest(
      () => BoundServer.start(isTls),
      (made) => made.stop(),
    );

    it('get a whole answer with 503, and the others get theirs', async () => {
      const [first] = await server.fill();
      const refused = await exchange(await server.connect(), GET);
      expect(refused).to.match(/^HTTP\/1\.1 503 Service Unavailable\r\n/);
      expect(refused)
        .to.match(/\r\nConnection: close\r\n/)
        .and.to.match(/\r\nRetry-After: 1\r\n/);
      expect(JSON.parse(refused.split('\r\n\r\n')[1] ?? '')).to.deep.equal({
        message: `too many connections: the API accepts ${LIMIT} at a time (--api-max-connections)`,
        code: 0,
      });
      expect(first && (await exchange(first, GET))).to.include('accepted');
      await eventually(() => server.bound.stats.used === LIMIT - 1);
      expect(server.bound.stats).to.deep.equal({ used: LIMIT - 1, limit: LIMIT, refused: 1 });
    });

    it('get the answer after a long body, and when they ask for another protocol', async () => {
      await server.fill();
      const body = 'x'.repeat(300_000);
      const put = `PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
      expect(await exchange(await server.connect(), put)).to.match(/^HTTP\/1\.1 503 /);
      const upgrade = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
      expect(await exchange(await server.connect(), upgrade)).to.match(/^HTTP\/1\.1 503 .*\}$/s);
    });

    it('are closed after a second without a request, and are accepted again below the bound', async () => {
      const idle = await server.fill();
      const refused = await server.connect();
      await eventually(() => server.bound.stats.refused === 1);
      const closed = once(refused, 'close');
      await server.clock.advance(1_000);
      await closed;
      for (const socket of idle) socket.destroy();
      await eventually(() => server.bound.stats.used === 0);
      expect(await exchange(await server.connect(), GET)).to.include('accepted');
    });

    it(`are closed at once beside ${ANSWERED} others of them, and logged once a minute`, async () => {
      await server.fill();
      for (let n = 0; n < ANSWERED; n += 1) await server.connect();
      await eventually(() => server.bound.stats.refused === ANSWERED);
      const further = await server.connect();
      if (!further.destroyed) await once(further, 'close');
      expect(server.bound.stats.refused).to.equal(ANSWERED + 1);
      await server.clock.advance(60_000);
      await eventually(async () => {
        await server.connect();
        return server.log.lines.length === 2;
      });
      const [line, later] = server.log.lines;
      expect(line).to.deep.include({ level: 'warn', msg: 'too many connections, further ones are refused' });
      expect(line?.fields).to.deep.equal({ port: 'api', limit: LIMIT, connections: 1 });
      expect(later?.fields['connections']).to.equal(ANSWERED + 1);
    });
  });
}
