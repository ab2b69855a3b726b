import { createServer, type IncomingMessage, type RequestListener, type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { ActorSystem } from '../actors/system.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import { StoreUnavailable } from '../resources/errors.ts';
import type { CheckRequested } from '../store/decision.ts';
import type { ResourceStore } from '../store/resource-store.ts';
import { type Codec, jsonCodec, MEDIA_TYPE_PROTOBUF, protobufCodec } from '../wire/codec.ts';
import { type AgentHello, MEDIA_TYPE_JSON } from '../wire/handshake.ts';
import { isRefusal, judge, type Refusal, refusalHeaders, type RefusalPorts } from './refusals.ts';
import { Session } from './session.ts';
import { SessionRegistry } from './session-registry.ts';

const HANDSHAKE_TIMEOUT_MS = 15_000;
/** Between asking the agents to leave and cutting those who did not. */
const STOP_GRACE_MS = 2_000;

export interface ListenerPorts extends RefusalPorts {
  system: Pick<ActorSystem, 'agents' | 'mustPause' | 'isFailing' | 'listen'>;
  resources: ResourceStore;
  /** So many sessions got the request. Must not throw. */
  requested(announcement: CheckRequested, sessions: number): void;
  /** Answers `/health` and `/ready`, the same as the API does. */
  status: RequestListener;
  clock: Clock;
  log: Log;
  backendName: string;
  maxMessageBytes: number;
  writeTimeoutMs: number;
}

/** The agent port: handshakes, and a session for each connection that passes. */
export class AgentListener {
  readonly server: Server;
  readonly #ports: ListenerPorts;
  readonly #registry: SessionRegistry;
  readonly #webSockets: WebSocketServer;
  readonly #hellos = new WeakMap<IncomingMessage, AgentHello>();

  constructor(ports: ListenerPorts) {
    this.#ports = ports;
    this.#registry = new SessionRegistry({
      deleted: ({ id }) => {
        ports.system.agents.tell(id, { type: 'entity.deleted', atMs: ports.clock.nowMs() });
      },
      requested: (announcement, sessions) => {
        ports.requested(announcement, sessions);
      },
    });
    this.#webSockets = new WebSocketServer({
      noServer: true,
      clientTracking: true,
      perMessageDeflate: false,
      skipUTF8Validation: true,
      handleProtocols: () => false,
      maxPayload: ports.maxMessageBytes,
    });
    this.#webSockets.on('headers', (headers, request) => {
      this.#addHeaders(headers, request);
    });
    this.server = createServer({ requestTimeout: HANDSHAKE_TIMEOUT_MS, headersTimeout: HANDSHAKE_TIMEOUT_MS });
    this.server.on('request', (request, response) => {
      const path = pathOf(request);
      if (path === '/health' || path === '/ready') {
        ports.status(request, response);
        return;
      }
      void this.#judge(request).then((outcome) => {
        const refusal = isRefusal(outcome) ? outcome : { status: 400, message: 'Bad Request\nnot an upgrade' };
        response.writeHead(refusal.status, refusalHeaders(refusal)).end(`${refusal.message}\n`);
      });
    });
    this.server.on('upgrade', (request, socket, head) => {
      void this.#upgrade(request, socket, head);
    });
    ports.system.listen(this.#registry);
  }

  /** Asks every agent to leave and resolves when they have, or were cut. */
  async stop(): Promise<void> {
    this.server.close();
    this.#ports.system.agents.closeAll();
    const closed = [...this.#webSockets.clients].map(
      (socket) =>
        new Promise<void>(
          (resolve) =>
            void socket.once('close', () => {
              resolve();
            }),
        ),
    );
    const cancel = this.#ports.clock.after(STOP_GRACE_MS, () => {
      for (const socket of this.#webSockets.clients) socket.terminate();
    });
    await Promise.all(closed);
    cancel();
    this.server.closeAllConnections();
  }

  #addHeaders(headers: string[], request: IncomingMessage): void {
    headers.push(`Backend-Id: ${this.#ports.backendName}`);
    // Agents look for a line of its own: folded into one they would not find it.
    headers.push(`Accept: ${MEDIA_TYPE_PROTOBUF}`, `Accept: ${MEDIA_TYPE_JSON}`);
    headers.push(`Content-Type: ${codecFor(request).mediaType}`);
    if (this.#hellos.get(request)?.queueId !== undefined) headers.push('Mon-Ack: 1');
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', (err) => {
      this.#ports.log.debug({ err }, 'socket failed in its handshake');
    });
    const outcome = await this.#judge(request);
    if (isRefusal(outcome)) {
      this.#ports.log.info({ status: outcome.status, reason: outcome.message }, 'agent refused');
      refuse(socket, outcome);
      return;
    }
    this.#hellos.set(request, outcome);
    this.#webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      this.#open(webSocket, outcome, codecFor(request));
    });
  }

  async #judge(request: IncomingMessage): Promise<AgentHello | Refusal> {
    if (pathOf(request) !== '/') return { status: 404, message: '404 page not found' };
    try {
      // No session could be put on record now; agents back off after a refused handshake.
      if (this.#ports.system.isFailing) return { status: 500, message: 'Internal Server Error' };
      return await judge(request, this.#ports);
    } catch (err) {
      this.#ports.log.error({ err }, 'handshake could not be judged');
      return { status: 500, message: 'Internal Server Error' };
    }
  }

  #open(webSocket: WebSocket, hello: AgentHello, codec: Codec): void {
    const { system, resources, clock, log, writeTimeoutMs } = this.#ports;
    const session = new Session(webSocket, hello, codec, {
      agents: system.agents,
      clock,
      log,
      writeTimeoutMs,
      mustPause: () => system.mustPause,
      subscribe: (subscriber, subscriptions) => {
        this.#registry.subscribe(subscriber, subscriptions);
      },
      ended: (ended) => {
        this.#registry.remove(ended);
      },
    });
    if (this.#registry.has(hello.namespace, hello.agentName)) {
      log.warn({ namespace: hello.namespace, agent: hello.agentName }, 'another session of this agent is open');
    }
    this.#registry.add(session);
    try {
      session.open(resources.get('entities', hello.namespace, hello.agentName));
    } catch (err) {
      if (!(err instanceof StoreUnavailable)) log.error({ err }, 'session could not be opened');
      this.#registry.remove(session);
      webSocket.close(1011, 'the session could not be opened');
    }
  }
}

const pathOf = ({ url = '' }: IncomingMessage): string => url.split('?', 1)[0] ?? '';

/** Protobuf for whoever asks for it with the first `Accept` line, to the letter; JSON for everybody else. */
function codecFor({ rawHeaders }: IncomingMessage): Codec {
  const name = rawHeaders.findIndex((text, index) => index % 2 === 0 && text.toLowerCase() === 'accept');
  return rawHeaders[name + 1] === MEDIA_TYPE_PROTOBUF && name >= 0 ? protobufCodec : jsonCodec;
}

function refuse(socket: Duplex, refusal: Refusal): void {
  const headers = Object.entries(refusalHeaders(refusal)).map(([name, value]) => `${name}: ${value}`);
  const statusLine = `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? ''}`;
  // Half-open, it would hold its descriptor for as long as the peer likes.
  socket.end(`${[statusLine, ...headers].join('\r\n')}\r\n\r\n${refusal.message}\n`, () => {
    socket.destroy();
  });
}
