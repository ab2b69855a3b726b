import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { type WebSocket, WebSocketServer } from 'ws';
import { CLOSE_GRACE_MS } from '../../machines/agent-connection.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { QueueStats } from '../../ports/queue-stats.ts';
import { type Codec, jsonCodec, MEDIA_TYPE_PROTOBUF, protobufCodec } from '../../wire/codec.ts';
import { type AgentHello, MEDIA_TYPE_JSON } from '../../wire/handshake.ts';
import { HandshakeRefusals } from './handshake-refusals.ts';
import { PendingHandshakes } from './pending-handshakes.ts';
import { type PeerAddress, peerAddress } from './peer-address.ts';
import { type AgentAdmission, UNLIMITED_ADMISSION, PortGate } from './port-gate.ts';
import { PORT_LIMITS, type PortLimits } from './port-limits.ts';
import { isRefusal, type Refusal } from './refusal.ts';
import {
  type AdmittedAgent,
  validateHandshake,
  refusalHeaders,
  type HandshakeRules,
  malformedRequestRefusal,
} from './validate-handshake.ts';
import type { AcceptedConnection } from '../connection/session-ports.ts';
import { discardSlowly } from '../pacing/slow-discard.ts';
import { AdmissionPacer } from '../pacing/admission-pacer.ts';

const RETRY_S = 5;
const TOO_MANY_AT_ONCE: Refusal = { status: 503, message: 'too many agents at once', retryAfterS: RETRY_S };
const STOPPING: Refusal = { status: 503, message: 'the backend is stopping', retryAfterS: RETRY_S };

const NO_MEMORY: Refusal = { status: 503, message: 'memory is nearly used up', retryAfterS: RETRY_S };

/** Options that the types of `ws` lack. */
const RECEIVING = {
  closeTimeout: CLOSE_GRACE_MS,
  /**
   * How many reads may bring one message. `ws` joins them in one tick and moves the rest of the list for each of them, which takes
   * less than 60 ms for this number, and 1.4 seconds for 120,000. A message of 10 MiB in TCP segments of 1,448 bytes has 7,300.
   */
  maxBufferedChunks: 16_384,
};

/** Limits and rules for handshakes. */
export interface HandshakeSettings extends HandshakeRules {
  clock: Clock;
  log: Log;
  backendName: string;
  maxMessageBytes: number;
  /** Unlimited by default. */
  admission?: AgentAdmission | undefined;
  /** Defaults to `PORT_LIMITS`. */
  limits?: PortLimits | undefined;
  /** Whether the connection is above the bound of connections. By default, no connection is. */
  isRefused?: (socket: Socket) => boolean;
}

interface HandshakePorts extends HandshakeSettings {
  /** Paces the opening and the end of sessions. */
  pacer: AdmissionPacer;
  /** Whether the store is failing, so that no session can be recorded. */
  isFailing(): boolean;
  /** Whether the memory is nearly used up. */
  isMemoryFull(): boolean;
  /** Number of sessions that count towards the limit. */
  sessions(): number;
  /** Whether the agent has an open session that is not being closed. */
  isConnected(hello: AgentHello): boolean;
  open(webSocket: WebSocket, opening: AcceptedConnection): void;
}

/** Accepts or refuses agent connections, from the upgrade request to the open WebSocket. */
export class Handshakes {
  readonly refusals: HandshakeRefusals;
  /** Open connections; `ws` removes closed ones. */
  readonly clients: ReadonlySet<WebSocket>;
  readonly #ports: HandshakePorts;
  readonly #limits: PortLimits;
  readonly #refusesDuplicates: boolean;
  readonly #gate: PortGate;
  readonly #pending: PendingHandshakes;
  /** Paces the validation of handshakes. */
  readonly #arrivals: AdmissionPacer;
  readonly #webSockets: WebSocketServer;
  readonly #hellos = new WeakMap<IncomingMessage, AgentHello>();
  #isStopping = false;

  constructor(ports: HandshakePorts) {
    const { admission = UNLIMITED_ADMISSION, limits = PORT_LIMITS } = ports;
    this.#ports = ports;
    this.#limits = limits;
    this.#refusesDuplicates = admission.refusesDuplicates;
    this.#arrivals = new AdmissionPacer(ports.clock);
    this.#gate = new PortGate(ports.clock, admission);
    this.#pending = new PendingHandshakes(limits.handshakes);
    this.refusals = new HandshakeRefusals(ports);
    this.#webSockets = new WebSocketServer({
      noServer: true,
      clientTracking: true,
      perMessageDeflate: false,
      skipUTF8Validation: true,
      // Sessions answer pings themselves, to bound the answers that a peer does not read.
      autoPong: false,
      handleProtocols: () => false,
      maxPayload: ports.maxMessageBytes,
      ...RECEIVING,
    });
    this.clients = this.#webSockets.clients;
    this.#webSockets.on('headers', (headers, request) => {
      this.#addHeaders(headers, request);
    });
  }

  get waiting(): QueueStats {
    return this.#pending.queueStats;
  }

  /** The refusal while the start-up wait lasts. */
  get closed(): Refusal | undefined {
    return this.#gate.closed;
  }

  /**
   * Validates the handshake and opens the connection, possibly in a later tick. Handshakes whose passwords must be
   * hashed are validated concurrently.
   */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#logFailures(socket);
    const isRefused = this.#ports.isRefused?.(request.socket) === true;
    const refusal = isRefused ? TOO_MANY_AT_ONCE : this.#register(socket);
    if (refusal !== undefined) {
      this.#recordRefusal(request, peerAddress(request.socket), refusal);
      refuse(socket, refusal);
      return;
    }
    this.#arrivals.schedule(() => void this.#process(request, socket, head));
  }

  /** Has a scope of its own: the listener stays as long as the socket and would keep the request of the handshake in memory. */
  #logFailures(socket: Duplex): void {
    const { log } = this.#ports;
    socket.on('error', (err) => {
      log.debug({ err }, 'socket failed in its handshake');
    });
  }

  #register(socket: Duplex): Refusal | undefined {
    if (this.#isStopping) return STOPPING;
    if (this.#ports.isMemoryFull()) return NO_MEMORY;
    const isFull = this.#ports.sessions() + this.#pending.queueStats.used >= this.#limits.sessions;
    return isFull || !this.#pending.begin(socket) ? TOO_MANY_AT_ONCE : undefined;
  }

  async #process(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    // A closed socket has no address.
    const address = peerAddress(request.socket);
    const validated = await this.validate(request);
    this.#ports.pacer.schedule(() => {
      const outcome = isRefusal(validated) ? validated : this.#revalidate(request, address, validated);
      if (isRefusal(outcome)) refuse(socket, outcome);
      else this.#open(request, { socket, head }, { ...outcome, address: address.text });
      this.#pending.end(socket);
    });
  }

  #open(
    request: IncomingMessage,
    upgraded: { socket: Duplex; head: Buffer },
    admitted: Omit<AcceptedConnection, 'codec' | 'isMutualTls'>,
  ): void {
    const { socket, head } = upgraded;
    this.#hellos.set(request, admitted.hello);
    // Sends the response and the first message in one packet.
    socket.cork();
    this.#webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      const isMutualTls = request.socket instanceof TLSSocket && request.socket.authorized;
      this.#ports.open(webSocket, { ...admitted, codec: codecFor(request), isMutualTls });
      discardSlowly(socket, webSocket, this.#ports.clock);
    });
    socket.uncork();
  }

  async validate(request: IncomingMessage): Promise<AdmittedAgent | Refusal> {
    // Only browsers and scanners request other paths.
    if (pathOf(request) !== '/') return { status: 404, message: '404 page not found' };
    const address = peerAddress(request.socket);
    const outcome = this.#gate.admit() ?? (await this.#validateRequest(request));
    if (isRefusal(outcome)) this.#recordRefusal(request, address, outcome);
    return outcome;
  }

  async #validateRequest(request: IncomingMessage): Promise<AdmittedAgent | Refusal> {
    try {
      // Agents back off after a refused handshake.
      if (this.#ports.isFailing()) return { status: 500, message: 'Internal Server Error' };
      return await validateHandshake(request, this.#ports);
    } catch (err) {
      this.#ports.log.error({ err }, 'failed to validate a handshake');
      return { status: 500, message: 'Internal Server Error' };
    }
  }

  /** Checks again for a stop or a duplicate agent, because either may have occurred since the validation. */
  #revalidate(request: IncomingMessage, address: PeerAddress, admission: AdmittedAgent): AdmittedAgent | Refusal {
    const refusal = this.#isStopping ? STOPPING : this.#duplicate(admission.hello);
    if (refusal === undefined) return admission;
    this.#recordRefusal(request, address, refusal);
    return refusal;
  }

  #duplicate(hello: AgentHello): Refusal | undefined {
    if (!this.#refusesDuplicates || !this.#ports.isConnected(hello)) return undefined;
    return { status: 409, message: `another agent ${hello.agentName} is connected` };
  }

  #recordRefusal({ headers }: IncomingMessage, { host }: PeerAddress, refusal: Refusal): void {
    this.refusals.record(host, headers, refusal);
  }

  #addHeaders(headers: string[], request: IncomingMessage): void {
    headers.push(`Backend-Id: ${this.#ports.backendName}`);
    // Agents look for separate `Accept` lines and do not parse a combined one.
    headers.push(`Accept: ${MEDIA_TYPE_PROTOBUF}`, `Accept: ${MEDIA_TYPE_JSON}`);
    headers.push(`Content-Type: ${codecFor(request).mediaType}`);
    if (this.#hellos.get(request)?.queueId !== undefined) headers.push('Mon-Ack: 1');
  }

  /** Refuses a peer whose bytes could not be parsed, such as TLS on a port without TLS. */
  refuseMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
    const refusal = malformedRequestRefusal(error, socket);
    if (refusal !== undefined) this.refusals.record(peerAddress(socket).host, {}, refusal);
    if (refusal === undefined || !socket.writable) {
      socket.destroy();
      return;
    }
    refuse(socket, refusal);
  }

  /** Refuses all further handshakes. */
  close(): void {
    this.#isStopping = true;
  }

  /** Resolves when no handshake is pending. */
  empty(): Promise<void> {
    return this.#pending.empty();
  }

  destroyAll(): void {
    this.#pending.destroyAll();
  }
}

export const pathOf = ({ url = '' }: IncomingMessage): string => url.split('?', 1)[0] ?? '';

/** Protobuf if the first `Accept` line is exactly its media type, otherwise JSON. */
function codecFor({ rawHeaders }: IncomingMessage): Codec {
  const name = rawHeaders.findIndex((text, index) => index % 2 === 0 && text.toLowerCase() === 'accept');
  return rawHeaders[name + 1] === MEDIA_TYPE_PROTOBUF && name >= 0 ? protobufCodec : jsonCodec;
}

function refuse(socket: Duplex, refusal: Refusal): void {
  const headers = Object.entries(refusalHeaders(refusal)).map(([name, value]) => `${name}: ${value}`);
  const statusLine = `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? ''}`;
  // A half-open socket would keep its descriptor as long as the peer wants.
  socket.end(`${[statusLine, ...headers].join('\r\n')}\r\n\r\n${refusal.message}\n`, () => {
    socket.destroy();
  });
}
