import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { expect } from 'chai';
import { closeApi, createApiServer } from '../../src/main/serve/api-server.ts';
import { ConnectionBound } from '../../src/main/serve/connection-bound.ts';
import { listen } from '../../src/main/serve/listen.ts';
import { eventually } from '../support/eventually.ts';
import { perTest } from '../support/fixture.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { RecordedLog } from '../support/recorded-log.ts';
import { SELF_SIGNED } from '../support/self-signed-certificate.ts';

const REQUESTS = 300;
/** Of one answer: the system holds some megabytes for a reader who does not read. */
const ANSWER = Buffer.alloc(200_000, 'x');
const WRITE_TIMEOUT_MS = 15_000;
/** What Node reads of a socket at once. */
const READ_BYTES = 64 * 1024;

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/** An API whose answers are up to the test. */
class PlayedApi {
  readonly server: Server;
  handle: Handle = (request, response) => response.end(`${request.url};`);
  begun: string[] = [];
  mostAtOnce = 0;
  readonly #isTls: boolean;
  #now = 0;

  private constructor(isTls: boolean) {
    this.#isTls = isTls;
    this.server = createApiServer(
      {
        callback: (request, response) => {
          this.begun.push(request.url ?? '');
          this.#now += 1;
          this.mostAtOnce = Math.max(this.mostAtOnce, this.#now);
          response.prependOnceListener('close', () => (this.#now -= 1));
          this.handle(request, response);
        },
      },
      { writeTimeoutMs: WRITE_TIMEOUT_MS, webSocketPaths: new Set() },
      new ConnectionBound({ port: 'api', limit: 1_000, clock: new ManualClock(), log: new RecordedLog() }),
      isTls ? (options) => createTlsServer({ ...options, ...SELF_SIGNED }) : undefined,
    );
  }

  static async start({ isTls }: { isTls: boolean }): Promise<PlayedApi> {
    const api = new PlayedApi(isTls);
    await listen(api.server, { host: '127.0.0.1', port: 0 });
    return api;
  }

  async connect(): Promise<Socket> {
    const { port } = this.server.address() as AddressInfo;
    const host = '127.0.0.1';
    const socket = this.#isTls ? connectTls({ port, host, ca: SELF_SIGNED.cert }) : connect({ port, host });
    socket.on('error', () => undefined);
    await once(socket, this.#isTls ? 'secureConnect' : 'connect');
    return socket;
  }

  async begunAtRest(): Promise<number> {
    let before = -1;
    await eventually(
      () => [before, (before = this.begun.length)],
      ([earlier, now]) => earlier === now,
      { everyMs: 50 },
    );
    return this.begun.length;
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}

const get = (path: string, headers = ''): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;
const CLOSE = 'Connection: close\r\n';
const paths = (count: number): string[] => Array.from({ length: count }, (_, n) => `/${n}`);
/** Of answers that are the path that was asked for. */
const answered = (answers: string): string[] => [...answers.matchAll(/\r\n\r\n(\/\w+);/g)].map(([, path = '']) => path);

for (const [protocol, isTls] of [
  ['http', false],
  ['https', true],
] as const) {
  describe(`pipelined requests on one ${protocol} connection`, () => {
    const api = perTest(() => PlayedApi.start({ isTls }));

    it('run one at a time, only as fast as responses are read, and get complete responses in order', async () => {
      api.handle = (request, response) => {
        response.write(ANSWER);
        setImmediate(() => response.end(`\r\n\r\n${request.url};`));
      };
      const socket = await api.connect();
      const asked = paths(REQUESTS);
      socket.write(asked.map((path, n) => get(path, n === REQUESTS - 1 ? CLOSE : '')).join(''));
      expect(await api.begunAtRest()).to.be.below(REQUESTS / 2);
      const answers = await text(socket);
      expect(answered(answers)).to.deep.equal(asked);
      expect(answers.length).to.be.above(REQUESTS * ANSWER.length);
      expect([api.begun, api.mostAtOnce]).to.deep.equal([asked, 1]);
    });

    it('are not read while one waits, so that only the requests of one read wait', async () => {
      api.handle = () => undefined;
      const socket = await api.connect();
      let received = 0;
      api.server.prependListener('request', () => (received += 1));
      const request = get('/held');
      const sent = 20 * READ_BYTES;
      socket.write(request.repeat(sent / request.length));
      await eventually(() => received > 1);
      await api.begunAtRest();
      expect(received * request.length).to.be.at.most(2 * READ_BYTES);
      expect(api.begun).to.have.length(1);
    });

    it('are read again when none waits, each with its whole body', async () => {
      api.handle = (request, response) => {
        void text(request).then((body) => response.end(`${request.url}${body.length};`));
      };
      const socket = await api.connect();
      const body = 'x'.repeat(10 * READ_BYTES);
      const post = (path: string, headers = ''): string =>
        `POST ${path} HTTP/1.1\r\nHost: x\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`;
      socket.write(
        get('/a') + post('/b') + get('/c') + get('/d') + post('/e', 'Expect: 100-continue\r\n') + get('/f', CLOSE),
      );
      const answers = await text(socket);
      expect(answered(answers)).to.deep.equal(['/a0', `/b${body.length}`, '/c0', '/d0', `/e${body.length}`, '/f0']);
      expect(answers).to.include('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK');
      expect(api.mostAtOnce).to.equal(1);
    });

    it('do not run after a response that could not be sent to the client', async () => {
      let first: ServerResponse | undefined;
      api.handle = (_, response) => {
        if (first === undefined) first = response;
        else response.end(ANSWER);
      };
      const socket = await api.connect();
      socket.write(get('/held').repeat(REQUESTS));
      await eventually(() => first !== undefined);
      socket.destroy();
      await once(socket, 'close');
      first?.end(ANSWER);
      await eventually(() => first?.closed);
      expect(await api.begunAtRest()).to.be.at.most(2);
    });

    it('do not run after a response that failed', async () => {
      api.handle = (_, response) => {
        response.write(ANSWER);
        response.destroy();
      };
      const socket = await api.connect();
      socket.write(get('/broken').repeat(REQUESTS));
      socket.resume();
      await once(socket, 'close');
      expect(await api.begunAtRest()).to.equal(1);
    });

    it('do not run after a response that ends the connection', async () => {
      api.handle = (_, response) => response.setHeader('Connection', 'close').end('/last;');
      const socket = await api.connect();
      socket.write(get('/last').repeat(REQUESTS));
      expect(answered(await text(socket))).to.deep.equal(['/last']);
      expect(api.begun).to.have.length(1);
    });

    it('give other connections their turn after each of them', async () => {
      const ticks: number[] = [];
      let tick = 0;
      const count = (): void => {
        tick += 1;
        if (ticks.length < REQUESTS) setImmediate(count);
      };
      api.handle = (request, response) => {
        ticks.push(tick);
        response.end(`${request.url};`);
      };
      const socket = await api.connect();
      setImmediate(count);
      socket.write(get('/many').repeat(REQUESTS - 1) + get('/last', CLOSE));
      await text(socket);
      expect(new Set(ticks).size).to.equal(REQUESTS);
    });

    it('do not delay those of another connection', async () => {
      const slow = await api.connect();
      api.handle = (request, response) => {
        if (request.url !== '/held') response.end(`${request.url};`);
      };
      slow.write(get('/held').repeat(2));
      await eventually(() => api.begun.length === 1);
      const other = await api.connect();
      other.write(get('/other', CLOSE));
      expect(answered(await text(other))).to.deep.equal(['/other']);
    });

    it('are all answered when the API closes in the meantime', async () => {
      const held: ServerResponse[] = [];
      api.handle = (request, response) => {
        if (request.url === '/0') held.push(response);
        else response.end(`${request.url};`);
      };
      const socket = await api.connect();
      socket.write(
        paths(REQUESTS)
          .map((path) => get(path))
          .join(''),
      );
      await eventually(() => held.length === 1);
      const clock = new ManualClock();
      const closed = closeApi(api.server, clock);
      held[0]?.end('/0;');
      let answers = '';
      socket.on('data', (part: Buffer) => (answers += part.toString()));
      await eventually(() => answered(answers).length === REQUESTS);
      await clock.advance(3_000);
      await closed;
      expect(answered(answers)).to.deep.equal(paths(REQUESTS));
    });

    it('are cut when the API closes and one takes too long', async () => {
      api.handle = () => undefined;
      const socket = await api.connect();
      socket.write(get('/held').repeat(2));
      await eventually(() => api.begun.length === 1);
      const clock = new ManualClock();
      const closed = closeApi(api.server, clock);
      await clock.advance(3_000);
      await closed;
      expect(await api.begunAtRest()).to.equal(1);
    });
  });
}
