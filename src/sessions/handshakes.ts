import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { CLOSE_GRACE_MS } from '../machines/agent-connection.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { QueueStats } from '../ports/queue-stats.ts';
import { type Codec, jsonCodec, MEDIA_TYPE_PROTOBUF, protobufCodec } from '../wire/codec.ts';
import { type AgentHello, MEDIA_TYPE_JSON } from '../wire/handshake.ts';
import { HandshakeRefusals } from './handshake-refusals.ts';
import { HandshakesUnderWay } from './handshakes-under-way.ts';
import { type PeerAddress, peerAddress } from './peer-address.ts';
import { type AgentAdmission, EVERYBODY_AT_ONCE, PortGate } from './port-gate.ts';
import { PORT_LIMITS, type PortLimits } from './port-limits.ts';
import { isRefusal, type Refusal } from './refusal.ts';
import { type Admission, judge, refusalHeaders, type RefusalPorts, unreadableRequest } from './refusals.ts';
import type { Opening } from './session.ts';
import { discardSlowly } from './slow-discard.ts';
import { AdmissionPacer } from './admission-pacer.ts';

const RETRY_S = 5;
const TOO_MANY_AT_ONCE: Refusal = { status: 503, message: 'too many agents at once', retryAfterS: RETRY_S };
const STOPPING: Refusal = { status: 503, message: 'the backend is stopping', retryAfterS: RETRY_S };

/** Beside the other options, because the types of ws do not know it. */
const CLOSING = { closeTimeout: CLOSE_GRACE_MS };

/** What is asked of those who come, and of what is there already. */
export interface HandshakeSettings extends RefusalPorts {
  clock: Clock;
  log: Log;
  backendName: string;
  maxMessageBytes: number;
  /** Everybody at once unless it is given. */
  admission?: AgentAdmission | undefined;
  /** `PORT_LIMITS` unless they are given. */
  limits?: PortLimits | undefined;
}

interface HandshakePorts extends HandshakeSettings {
  /** Where sessions open and end. */
  pacer: AdmissionPacer;
  /** Whether no session could be put on record now. */
  isFailing(): boolean;
  /** Sessions as far as they count towards their limit. */
  sessions(): number;
  /** Whether a session of that agent is open and not being closed. */
  isConnected(hello: AgentHello): boolean;
  open(webSocket: WebSocket, opening: Opening): void;
}

/** From the request of a connection to the session that opens on it, or to its refusal. */
export class Handshakes {
  readonly refusals: HandshakeRefusals;
  /** The open connections; `ws` forgets each when it closes. */
  readonly clients: ReadonlySet<WebSocket>;
  readonly #ports: HandshakePorts;
  readonly #limits: PortLimits;
  readonly #refusesDuplicates: boolean;
  readonly #gate: PortGate;
  readonly #underWay: HandshakesUnderWay;
  readonly #arrivals = new AdmissionPacer();
  readonly #webSockets: WebSocketServer;
  readonly #hellos = new WeakMap<IncomingMessage, AgentHello>();
  #isStopping = false;

  constructor(ports: HandshakePorts) {
    const { admission = EVERYBODY_AT_ONCE, limits = PORT_LIMITS } = ports;
    this.#ports = ports;
    this.#limits = limits;
    this.#refusesDuplicates = admission.refusesDuplicates;
    this.#gate = new PortGate(ports.clock, admission);
    this.#underWay = new HandshakesUnderWay(limits.handshakes);
    this.refusals = new HandshakeRefusals(ports);
    this.#webSockets = new WebSocketServer({
      noServer: true,
      clientTracking: true,
      perMessageDeflate: false,
      skipUTF8Validation: true,
      // Sessions answer pings themselves: a peer that does not read the answers must not pile them up.
      autoPong: false,
      handleProtocols: () => false,
      maxPayload: ports.maxMessageBytes,
      ...CLOSING,
    });
    this.clients = this.#webSockets.clients;
    this.#webSockets.on('headers', (headers, request) => {
      this.#addHeaders(headers, request);
    });
  }

  get waiting(): QueueStats {
    return this.#underWay.queueStats;
  }

  /** While the backend has just started. */
  get closed(): Refusal | undefined {
    return this.#gate.closed;
  }

  /**
   * Judged in one turn of the event loop, opened in the same or a later one: a crowd whose password has still to be hashed is
   * judged all at once.
   */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', (err) => {
      this.#ports.log.debug({ err }, 'socket failed in its handshake');
    });
    const refusal = this.#enter(socket);
    if (refusal !== undefined) {
      this.#note(request, peerAddress(request.socket), refusal);
      refuse(socket, refusal);
      return;
    }
    this.#arrivals.enter(() => void this.#judgeInTurn(request, socket, head));
  }

  #enter(socket: Duplex): Refusal | undefined {
    if (this.#isStopping) return STOPPING;
    const isFull = this.#ports.sessions() + this.#underWay.queueStats.used >= this.#limits.sessions;
    return isFull || !this.#underWay.begin(socket) ? TOO_MANY_AT_ONCE : undefined;
  }

  async #judgeInTurn(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    // Known only while the peer is there.
    const address = peerAddress(request.socket);
    const judged = await this.judge(request);
    this.#ports.pacer.enter(() => {
      const outcome = isRefusal(judged) ? judged : this.#judgeAgain(request, address, judged);
      if (isRefusal(outcome)) refuse(socket, outcome);
      else this.#open(request, { socket, head }, { ...outcome, address: address.text });
      this.#underWay.end(socket);
    });
  }

  #open(request: IncomingMessage, upgraded: { socket: Duplex; head: Buffer }, admitted: Omit<Opening, 'codec'>): void {
    const { socket, head } = upgraded;
    this.#hellos.set(request, admitted.hello);
    // The answer and the first message in one piece.
    socket.cork();
    this.#webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      this.#ports.open(webSocket, { ...admitted, codec: codecFor(request) });
      discardSlowly(socket, () => webSocket.readyState !== webSocket.OPEN, this.#ports.clock);
    });
    socket.uncork();
  }

  async judge(request: IncomingMessage): Promise<Admission | Refusal> {
    // No agent asks for another path: browsers and scanners do.
    if (pathOf(request) !== '/') return { status: 404, message: '404 page not found' };
    const address = peerAddress(request.socket);
    const outcome = this.#gate.enter() ?? (await this.#outcomeOf(request));
    if (isRefusal(outcome)) this.#note(request, address, outcome);
    return outcome;
  }

  async #outcomeOf(request: IncomingMessage): Promise<Admission | Refusal> {
    try {
      // Agents back off after a refused handshake.
      if (this.#ports.isFailing()) return { status: 500, message: 'Internal Server Error' };
      return await judge(request, this.#ports);
    } catch (err) {
      this.#ports.log.error({ err }, 'handshake could not be judged');
      return { status: 500, message: 'Internal Server Error' };
    }
  }

  /** While this one waited, another of that name may have come in, or the backend have begun to stop. */
  #judgeAgain(request: IncomingMessage, address: PeerAddress, admission: Admission): Admission | Refusal {
    const refusal = this.#isStopping ? STOPPING : this.#duplicate(admission.hello);
    if (refusal === undefined) return admission;
    this.#note(request, address, refusal);
    return refusal;
  }

  #duplicate(hello: AgentHello): Refusal | undefined {
    if (!this.#refusesDuplicates || !this.#ports.isConnected(hello)) return undefined;
    return { status: 409, message: `another agent ${hello.agentName} is connected` };
  }

  #note({ headers }: IncomingMessage, { host }: PeerAddress, refusal: Refusal): void {
    this.refusals.note(host, headers, refusal);
  }

  #addHeaders(headers: string[], request: IncomingMessage): void {
    headers.push(`Backend-Id: ${this.#ports.backendName}`);
    // Agents look for a line of its own: folded into one they would not find it.
    headers.push(`Accept: ${MEDIA_TYPE_PROTOBUF}`, `Accept: ${MEDIA_TYPE_JSON}`);
    headers.push(`Content-Type: ${codecFor(request).mediaType}`);
    if (this.#hellos.get(request)?.queueId !== undefined) headers.push('Mon-Ack: 1');
  }

  /** An agent that speaks TLS to a port that does not ends here, or the other way round. */
  refuseUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
    const refusal = unreadableRequest(error, socket);
    if (refusal !== undefined) this.refusals.note(peerAddress(socket).host, {}, refusal);
    if (refusal === undefined || !socket.writable) {
      socket.destroy();
      return;
    }
    refuse(socket, refusal);
  }

  /** Nobody comes in any more. */
  close(): void {
    this.#isStopping = true;
  }

  /** Resolves when everybody has an answer, or was cut. */
  empty(): Promise<void> {
    return this.#underWay.empty();
  }

  cut(): void {
    this.#underWay.cut();
  }
}

export const pathOf = ({ url = '' }: IncomingMessage): string => url.split('?', 1)[0] ?? '';

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
