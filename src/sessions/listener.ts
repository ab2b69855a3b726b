import {
  createServer as createClearServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { ActorSystem } from '../actors/system.ts';
import { CLOSE_GRACE_MS } from '../machines/agent-connection.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import { StoreUnavailable } from '../resources/errors.ts';
import type { CheckRequested } from '../store/decision.ts';
import type { Page, PageRequest } from '../store/page.ts';
import type { ResourceStore } from '../store/resource-store.ts';
import { type Codec, jsonCodec, MEDIA_TYPE_PROTOBUF, protobufCodec } from '../wire/codec.ts';
import { type AgentHello, MEDIA_TYPE_JSON } from '../wire/handshake.ts';
import { type AgentFigures, agentFigures } from './agent-figures.ts';
import { FrameRefusals } from './frame-refusals.ts';
import { type HandshakeRefusal, HandshakeRefusals } from './handshake-refusals.ts';
import { peerAddress } from './peer-address.ts';
import { type AgentAdmission, EVERYBODY_AT_ONCE, PortGate } from './port-gate.ts';
import {
  type Admission,
  isRefusal,
  judge,
  type Refusal,
  refusalHeaders,
  type RefusalPorts,
  unreadableRequest,
} from './refusals.ts';
import { type Opening, Session } from './session.ts';
import { sessionInfo } from './session-info.ts';
import { SessionCounts } from './session-counts.ts';
import { SessionRegistry } from './session-registry.ts';
import { Turnstile } from './turnstile.ts';

const HANDSHAKE_TIMEOUT_MS = 15_000;
/** How late a handshake that takes too long may be cut. */
const HANDSHAKE_CHECK_INTERVAL_MS = 1_000;
/** Between asking the agents to leave and cutting those who did not. */
const STOP_GRACE_MS = 2_000;

/** Beside the other options, because the types of ws do not know it. */
const CLOSING = { closeTimeout: CLOSE_GRACE_MS };

export interface ListenerPorts extends RefusalPorts {
  system: Pick<ActorSystem, 'agents' | 'mustPause' | 'isFailing' | 'listen'>;
  resources: ResourceStore;
  /** For clear text unless given. */
  createServer?: ((options: ServerOptions) => Server) | undefined;
  /** So many sessions got the request. Must not throw. */
  requested(announcement: CheckRequested, sessions: number): void;
  /** Answers `/health` and `/ready`, the same as the API does. */
  status: RequestListener;
  clock: Clock;
  log: Log;
  backendName: string;
  maxMessageBytes: number;
  writeTimeoutMs: number;
  /** Everybody at once unless it is given. */
  admission?: AgentAdmission | undefined;
}

/** The agent port: handshakes, and a session for each connection that passes. */
export class AgentListener {
  readonly server: Server;
  readonly counts = new SessionCounts();
  readonly refusedHandshakes: HandshakeRefusals;
  readonly refusedFrames = new FrameRefusals();
  readonly turnstile = new Turnstile();
  readonly #ports: ListenerPorts;
  readonly #admission: AgentAdmission;
  readonly #gate: PortGate;
  readonly #registry: SessionRegistry;
  readonly #webSockets: WebSocketServer;
  readonly #hellos = new WeakMap<IncomingMessage, AgentHello>();

  constructor(ports: ListenerPorts) {
    this.#ports = ports;
    this.#admission = ports.admission ?? EVERYBODY_AT_ONCE;
    this.#gate = new PortGate(ports.clock, this.#admission);
    this.refusedHandshakes = new HandshakeRefusals(ports);
    this.#registry = new SessionRegistry({
      deleted: ({ id }) => {
        ports.system.agents.tell(id, { type: 'entity.deleted' });
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
      ...CLOSING,
    });
    this.#webSockets.on('headers', (headers, request) => {
      this.#addHeaders(headers, request);
    });
    const { createServer = createClearServer } = ports;
    this.server = createServer({
      requestTimeout: HANDSHAKE_TIMEOUT_MS,
      headersTimeout: HANDSHAKE_TIMEOUT_MS,
      connectionsCheckingInterval: HANDSHAKE_CHECK_INTERVAL_MS,
    });
    this.server.on('request', (request, response) => {
      void this.#answer(request, response);
    });
    this.server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      this.#refuseUnreadable(error, socket as Socket);
    });
    this.server.on('upgrade', (request, socket, head) => {
      socket.on('error', (err) => {
        this.#ports.log.debug({ err }, 'socket failed in its handshake');
      });
      this.turnstile.enter(() => void this.#upgrade(request, socket, head));
    });
    ports.system.listen(this.#registry);
  }

  /** Who takes turns in a namespace, by subscription. */
  rings(namespace: string): ReadonlyMap<string, string[]> {
    return this.#registry.rings(namespace);
  }

  /** Open connections of a namespace, or of all, in order of namespace, agent and id. */
  sessions(namespace: string | undefined, page: PageRequest): Page<object> {
    const { items, lastKey } = this.#registry.page(namespace, page);
    const nowMs = this.#ports.clock.nowMs();
    const info = (session: Session): object =>
      sessionInfo(session, {
        namesakes: this.#registry.sessionsOf(session.namespace, session.agentName).filter((other) => other !== session),
        refused: this.refusedFrames.of(session),
        nowMs,
      });
    return { items: items.map(info), lastKey };
  }

  /** Newest first. */
  handshakeRefusals(): HandshakeRefusal[] {
    return this.refusedHandshakes.list();
  }

  /** Costs all sessions. */
  figures(): AgentFigures {
    return agentFigures(this.#registry.open, this.counts.droppedRequests);
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
    await this.turnstile.empty();
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

  /** What is no upgrade. */
  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = pathOf(request);
    const notReady = path === '/ready' ? this.#gate.closed : undefined;
    if (notReady === undefined && (path === '/ready' || path === '/health')) {
      this.#ports.status(request, response);
      return;
    }
    const outcome = notReady ?? (await this.#judge(request));
    const refusal = isRefusal(outcome) ? outcome : { status: 400, message: 'Bad Request\nnot an upgrade' };
    response.writeHead(refusal.status, refusalHeaders(refusal)).end(`${refusal.message}\n`);
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const address = peerAddress(request.socket).text;
    const judged = await this.#judge(request);
    // Asked last, because another of that name may have come in while this one was judged.
    const outcome = isRefusal(judged) ? judged : (this.#duplicate(request, judged.hello) ?? judged);
    if (isRefusal(outcome)) {
      refuse(socket, outcome);
      return;
    }
    this.#hellos.set(request, outcome.hello);
    // The answer and the first message in one piece.
    socket.cork();
    this.#webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      this.open(webSocket, { ...outcome, address, codec: codecFor(request) });
    });
    socket.uncork();
  }

  async #judge(request: IncomingMessage): Promise<Admission | Refusal> {
    // No agent asks for another path: browsers and scanners do.
    if (pathOf(request) !== '/') return { status: 404, message: '404 page not found' };
    const { host } = peerAddress(request.socket);
    const outcome = this.#gate.enter() ?? (await this.#outcomeOf(request));
    if (isRefusal(outcome)) this.refusedHandshakes.note(host, request.headers, outcome);
    return outcome;
  }

  #duplicate(request: IncomingMessage, { namespace, agentName }: AgentHello): Refusal | undefined {
    if (!this.#admission.refusesDuplicates) return undefined;
    // One that is being closed is as good as gone.
    const isOpen = this.#registry.sessionsOf(namespace, agentName).some(({ state }) => state !== 'critical');
    if (!isOpen) return undefined;
    const refusal = { status: 409, message: `another agent ${agentName} is connected` };
    this.refusedHandshakes.note(peerAddress(request.socket).host, request.headers, refusal);
    return refusal;
  }

  async #outcomeOf(request: IncomingMessage): Promise<Admission | Refusal> {
    try {
      // No session could be put on record now; agents back off after a refused handshake.
      if (this.#ports.system.isFailing) return { status: 500, message: 'Internal Server Error' };
      return await judge(request, this.#ports);
    } catch (err) {
      this.#ports.log.error({ err }, 'handshake could not be judged');
      return { status: 500, message: 'Internal Server Error' };
    }
  }

  /** An agent that speaks TLS to a port that does not ends here, or the other way round. */
  #refuseUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
    const refusal = unreadableRequest(error, socket);
    if (refusal !== undefined) this.refusedHandshakes.note(peerAddress(socket).host, {}, refusal);
    if (refusal === undefined || !socket.writable) {
      socket.destroy();
      return;
    }
    refuse(socket, refusal);
  }

  /** A session on a connection whose handshake has passed. */
  open(webSocket: WebSocket, opening: Opening): void {
    const { system, resources, clock, log, writeTimeoutMs } = this.#ports;
    const session = new Session(webSocket, opening, {
      agents: system.agents,
      refusals: this.refusedFrames,
      counts: this.counts,
      clock,
      log,
      writeTimeoutMs,
      mustPause: () => system.mustPause,
      isFailing: () => system.isFailing,
      waits: (waiting) => {
        this.#registry.waits(waiting);
      },
      subscribe: (subscriber, subscriptions) => {
        this.#registry.subscribe(subscriber, subscriptions);
      },
      ended: (ended, tell) => {
        this.#registry.remove(ended);
        this.turnstile.enter(tell);
      },
    });
    const { namespace, agentName, address } = session;
    const others = this.#registry.sessionsOf(namespace, agentName);
    if (others.length > 0) {
      const fields = { namespace, agent: agentName, address, others: others.length, other: others.at(-1)?.address };
      log.warn(fields, 'another session of this agent is open');
    }
    this.#registry.add(session);
    try {
      const stored = resources.get('entities', namespace, agentName);
      session.open(stored);
      // Agents of one name are told the same, whenever one of them is.
      if (stored !== undefined) for (const other of others) other.configure(stored);
    } catch (err) {
      this.counts.errors['not opened'] += 1;
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
