import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { CheckEvent } from '../../src/resources/event.ts';
import { eventually } from '../support/eventually.ts';

export interface PlayedFrame {
  type: string;
  /** As it came: agents send events and nothing else. */
  body: CheckEvent;
}

/** One connection of an agent, with what it said. */
export interface PlayedSession {
  headers: IncomingHttpHeaders;
  frames: PlayedFrame[];
  pings: number;
  closed: { code: number; reason: string } | undefined;
  socket: WebSocket;
}

interface PlayedBackendOptions {
  /** Answers `Mon-Ack: 1`. */
  acknowledges?: boolean;
  /** Answers every numbered event at once. */
  acksEvents?: boolean;
  /** Sent as the first message; `undefined` sends none. */
  entityConfig?: object | undefined;
  /** Handshakes are refused with this status while it is set. */
  refuseWith?: number | undefined;
}

const NO_ENTITY = { metadata: { name: 'not found', namespace: 'default' }, entity_class: 'agent' };

/** The backend's side of the wire, on loopback, doing what a test tells it. */
export class PlayedBackend {
  readonly options: PlayedBackendOptions;
  readonly sessions: PlayedSession[] = [];
  /** Monotonic times of all handshakes, refused ones too. */
  readonly attemptsMs: number[] = [];
  readonly #http: Server;
  readonly #sockets: WebSocketServer;

  private constructor(http: Server, options: PlayedBackendOptions) {
    this.#http = http;
    this.options = options;
    this.#sockets = new WebSocketServer({ noServer: true, perMessageDeflate: true });
    this.#sockets.on('headers', (lines) => {
      lines.push('Backend-ID: played', 'Accept: application/json');
      if (options.acknowledges !== false) lines.push('Mon-Ack: 1');
    });
    http.on('upgrade', (request, socket, head) => {
      this.attemptsMs.push(performance.now());
      if (options.refuseWith !== undefined) {
        socket.end(`HTTP/1.1 ${options.refuseWith} Refused\r\nConnection: close\r\nContent-Length: 8\r\n\r\nno entry`);
        return;
      }
      this.#sockets.handleUpgrade(request, socket, head, (open) => this.#accept(open, request));
    });
  }

  static async start(options: PlayedBackendOptions = {}): Promise<PlayedBackend> {
    const http = createServer();
    const backend = new PlayedBackend(http, { acksEvents: true, entityConfig: NO_ENTITY, ...options });
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    return backend;
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  get current(): PlayedSession | undefined {
    return this.sessions.at(-1);
  }

  get frames(): PlayedFrame[] {
    return this.sessions.flatMap(({ frames }) => frames);
  }

  get events(): PlayedFrame[] {
    return this.frames.filter(({ type }) => type.startsWith('event'));
  }

  get keepalives(): PlayedFrame[] {
    return this.frames.filter(({ type }) => type === 'keepalive');
  }

  send(text: string): void {
    this.current?.socket.send(text);
  }

  requestCheck(config: Record<string, unknown>, issued: number): void {
    const check = { interval: 60, ...config, metadata: { namespace: 'default', ...(config['metadata'] as object) } };
    this.send(`check_request\n${JSON.stringify({ config: check, issued, assets: null, hooks: null })}`);
  }

  /** The agent is connected and has sent a keepalive: it takes checks. */
  async ready(): Promise<PlayedSession> {
    const isReady = (session: PlayedSession | undefined): boolean =>
      session?.closed === undefined && session?.frames.some(({ type }) => type === 'keepalive') === true;
    const session = await eventually(() => this.current, isReady, { what: 'a session', withinMs: 10_000 });
    if (session === undefined) throw new Error('no session');
    return session;
  }

  async eventsOf(check: string, count = 1): Promise<PlayedFrame[]> {
    const named = (): PlayedFrame[] => this.events.filter(({ body }) => body['check']?.metadata?.name === check);
    return eventually(named, (found) => found.length >= count, { what: `events of ${check}`, withinMs: 10_000 });
  }

  async stop(): Promise<void> {
    for (const { socket } of this.sessions) socket.terminate();
    this.#http.closeAllConnections();
    this.#http.close();
    await once(this.#http, 'close');
  }

  #accept(socket: WebSocket, { headers }: IncomingMessage): void {
    const session: PlayedSession = { headers, frames: [], pings: 0, closed: undefined, socket };
    this.sessions.push(session);
    socket.on('message', (data: Buffer) => this.#receive(session, data));
    socket.on('ping', () => (session.pings += 1));
    socket.on('close', (code, reason) => (session.closed = { code, reason: reason.toString() }));
    if (this.options.entityConfig !== undefined) {
      socket.send(`entity_config\n${JSON.stringify(this.options.entityConfig)}`);
    }
  }

  #receive(session: PlayedSession, data: Buffer): void {
    const end = data.indexOf('\n');
    const type = data.toString('latin1', 0, end);
    session.frames.push({ type, body: JSON.parse(data.toString('utf8', end + 1)) as CheckEvent });
    const n = /^event (\d+)$/.exec(type)?.[1];
    if (n !== undefined && this.options.acksEvents) session.socket.send(`ack\n${n}`);
  }
}
