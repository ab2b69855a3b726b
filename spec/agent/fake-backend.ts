import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { type Codec, jsonCodec, protobufCodec } from '../../src/wire/codec.ts';
import type { CheckEvent } from '../../src/resources/event.ts';
import { readEvent } from '../../src/wire/protobuf-codec.ts';
import { eventually } from '../support/eventually.ts';

export interface FakeFrame {
  type: string;
  /** As it came: an event, or null for a message without a payload. */
  body: CheckEvent;
}

/** One connection of an agent, with what it said. */
export interface FakeSession {
  headers: IncomingHttpHeaders;
  frames: FakeFrame[];
  pings: number;
  /** What this side of the connection speaks. */
  codec: Codec;
  closed: { code: number; reason: string } | undefined;
  socket: WebSocket;
}

interface FakeBackendOptions {
  /** Answers `Mon-Ack: 1`. */
  acknowledges?: boolean;
  /** Answers every numbered event at once. */
  acksEvents?: boolean;
  /** Answers those up to this number only. */
  acksUpTo?: number;
  /** Leaves handshakes unanswered. */
  stalls?: boolean;
  /** Answers pings. */
  pongs?: boolean;
  /** Sent as the first message; `undefined` sends none. */
  entityConfig?: object | undefined;
  /** Handshakes are refused with this status while it is set. */
  refuseWith?: number | undefined;
  /** The `Accept` lines of its answer. */
  accepts?: readonly string[];
}

const NO_ENTITY = { metadata: { name: 'not found', namespace: 'default' }, entity_class: 'agent' };

/** A backend on loopback whose answers the test controls. */
export class FakeBackend {
  readonly options: FakeBackendOptions;
  readonly sessions: FakeSession[] = [];
  /** Monotonic times of all handshakes, refused ones too. */
  readonly attemptsMs: number[] = [];
  readonly #http: Server;
  readonly #sockets: WebSocketServer;
  readonly #stalled: Duplex[] = [];

  private constructor(http: Server, options: FakeBackendOptions) {
    this.#http = http;
    this.options = options;
    this.#sockets = new WebSocketServer({
      noServer: true,
      perMessageDeflate: true,
      autoPong: options.pongs !== false,
    });
    this.#sockets.on('headers', (lines) => {
      lines.push('Backend-ID: backend');
      for (const type of options.accepts ?? ['application/json']) lines.push(`Accept: ${type}`);
      if (options.acknowledges !== false) lines.push('Mon-Ack: 1');
    });
    http.on('upgrade', (request, socket, head) => {
      // An agent that is killed resets its connection.
      socket.on('error', () => undefined);
      this.attemptsMs.push(performance.now());
      if (options.stalls === true) {
        this.#stalled.push(socket);
        return;
      }
      if (options.refuseWith !== undefined) {
        socket.end(`HTTP/1.1 ${options.refuseWith} Refused\r\nConnection: close\r\nContent-Length: 8\r\n\r\nno entry`);
        return;
      }
      this.#sockets.handleUpgrade(request, socket, head, (open) => this.#accept(open, request));
    });
  }

  static async start(options: FakeBackendOptions = {}): Promise<FakeBackend> {
    const http = createServer();
    const backend = new FakeBackend(http, { acksEvents: true, entityConfig: NO_ENTITY, ...options });
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    return backend;
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  get current(): FakeSession | undefined {
    return this.sessions.at(-1);
  }

  get frames(): FakeFrame[] {
    return this.sessions.flatMap(({ frames }) => frames);
  }

  get events(): FakeFrame[] {
    return this.frames.filter(({ type }) => type.startsWith('event'));
  }

  get keepalives(): FakeFrame[] {
    return this.frames.filter(({ type }) => type === 'keepalive');
  }

  send(message: string | Buffer): void {
    this.current?.socket.send(message);
  }

  requestCheck(config: Record<string, unknown>, issued: number): void {
    const check = { interval: 60, ...config, metadata: { namespace: 'default', ...(config['metadata'] as object) } };
    this.send(`check_request\n${JSON.stringify({ config: check, issued, assets: null, hooks: null })}`);
  }

  /** The agent is connected and has sent a keepalive: it takes checks. */
  async ready(): Promise<FakeSession> {
    const isReady = (session: FakeSession | undefined): boolean =>
      session?.closed === undefined && session?.frames.some(({ type }) => type === 'keepalive') === true;
    const session = await eventually(() => this.current, isReady, { what: 'a session', withinMs: 10_000 });
    if (session === undefined) throw new Error('no session');
    return session;
  }

  async eventsOf(check: string, count = 1): Promise<FakeFrame[]> {
    const named = (): FakeFrame[] => this.events.filter(({ body }) => body['check']?.metadata?.name === check);
    return eventually(named, (found) => found.length >= count, { what: `events of ${check}`, withinMs: 10_000 });
  }

  async stop(): Promise<void> {
    for (const { socket } of this.sessions) socket.terminate();
    for (const socket of this.#stalled) socket.destroy();
    this.#http.closeAllConnections();
    this.#http.close();
    await once(this.#http, 'close');
  }

  #accept(socket: WebSocket, { headers }: IncomingMessage): void {
    const codec = this.options.accepts?.includes(protobufCodec.mediaType) === true ? protobufCodec : jsonCodec;
    const session: FakeSession = { headers, frames: [], pings: 0, closed: undefined, socket, codec };
    this.sessions.push(session);
    socket.on('message', (data: Buffer) => this.#receive(session, data));
    socket.on('ping', () => (session.pings += 1));
    // A reset is seen as close code 1006.
    socket.on('error', () => undefined);
    socket.on('close', (code, reason) => (session.closed = { code, reason: reason.toString() }));
    if (this.options.entityConfig !== undefined) {
      socket.send(`entity_config\n${JSON.stringify(this.options.entityConfig)}`);
    }
  }

  #receive(session: FakeSession, data: Buffer): void {
    const end = data.indexOf('\n');
    const type = data.toString('latin1', 0, end);
    const payload = data.subarray(end + 1);
    // JSON is taken as it comes: tests look at what the agent wrote, not at what a decoder makes of it.
    const isJson = session.codec === jsonCodec;
    const body = isJson ? (JSON.parse(payload.toString() || 'null') as unknown) : readEvent(payload);
    session.frames.push({ type, body: body as CheckEvent });
    const n = /^event (\d+)$/.exec(type)?.[1];
    const { acksEvents, acksUpTo = Infinity } = this.options;
    if (n !== undefined && acksEvents && Number(n) <= acksUpTo) session.socket.send(`ack\n${n}`);
  }
}
