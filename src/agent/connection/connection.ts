import type { ClientRequest, IncomingMessage } from 'node:http';
import type { SecureContextOptions } from 'node:tls';
import { type ClientOptions, WebSocket } from 'ws';
import { type Actor, createActor, type EventFrom } from 'xstate';
import { agentLinkMachine, type LinkSettings } from '../../machines/agent-link.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { EntityConfig } from '../../resources/entity.ts';
import type { Event } from '../../resources/event.ts';
import { type Codec, jsonCodec, protobufCodec } from '../../wire/codec.ts';
import {
  acceptsLine,
  acknowledgesEvents,
  type AgentHello,
  type Credentials,
  helloHeaders,
} from '../../wire/handshake.ts';
import type { CheckRequest } from '../../wire/check-request.ts';
import type { AgentMetrics } from '../metrics/agent-metrics.ts';
import { describeConnectionError, shownUrl } from './connection-error.ts';
import { bareHost } from './proxy.ts';
import { ProxyTunnel } from './proxy-tunnel.ts';
import { refusalText } from './refusal-text.ts';
import type { EventQueue } from '../queue/event-queue.ts';
import type { HeartbeatSettings } from './heartbeat.ts';
import { CLOSE_TOO_LARGE, isCheckRequest, Session, type SessionOptions } from './session.ts';

const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;

export interface ConnectionSettings {
  /** At least one URL. They are tried in an order that is shuffled once. */
  readonly backendUrls: readonly string[];
  readonly hello: AgentHello;
  /** Undefined for an agent with a client certificate. */
  readonly credentials: Credentials | undefined;
  readonly link: LinkSettings;
  readonly heartbeat: HeartbeatSettings;
  /** The proxies of those backends that are reached through one, by URL. */
  readonly proxies: ReadonlyMap<string, URL>;
}

/** `rejectUnauthorized`: whether to verify the certificate of the backend. */
export type TlsOptions = SecureContextOptions & { rejectUnauthorized: boolean };

interface ConnectionPorts {
  clock: Clock;
  log: Log;
  /** Uniform in [0, 1). */
  random(): number;
  queue: EventQueue;
  metrics: Pick<AgentMetrics, 'count'>;
  /** The options for the next attempt to connect to a `wss:` backend. */
  tlsOptions(): TlsOptions;
  /** A connection was opened: sequence numbers and the configuration of the entity start afresh. */
  sessionBegan(): void;
  /** The connection can send events. */
  sessionReady(): void;
  configReceived(config: EntityConfig): void;
  checkRequested(request: CheckRequest): void;
  beginKeepalives(send: (keepalive: Event) => void): void;
  endKeepalives(): void;
}

function shuffled(urls: readonly string[], random: () => number): string[] {
  const keyed = urls.map((url) => ({ url, key: random() }));
  return keyed.toSorted((a, b) => a.key - b.key).map(({ url }) => url);
}

/** Keeps a connection to one of the backends, with a session while it is open. */
export class Connection {
  readonly #settings: ConnectionSettings;
  readonly #ports: ConnectionPorts;
  readonly #urls: readonly string[];
  readonly #link: Actor<typeof agentLinkMachine>;
  #attempts = 0;
  #socket: WebSocket | undefined;
  #options: SessionOptions = { acknowledging: false, codec: jsonCodec };
  /** Encoding of the previous connection. */
  #lastCodec: Codec | undefined;
  #session: Session | undefined;
  #isReady = false;

  constructor(settings: ConnectionSettings, ports: ConnectionPorts) {
    this.#settings = settings;
    this.#ports = ports;
    this.#urls = shuffled(settings.backendUrls, () => ports.random());
    this.#link = this.#createLink();
  }

  start(): void {
    this.#link.start();
  }

  /** Sends queued events once the session has the configuration of the entity, or no longer waits for it. */
  flush(): void {
    if (this.#isReady) this.#session?.flush();
  }

  /** Whether events can be sent. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Whether a backend has accepted the agent. */
  get isOpen(): boolean {
    return this.#session !== undefined;
  }

  /**
   * Closes the connection and resolves when the socket is closed. The connection cannot be started again. `announced`: whether the
   * agent announces its stop to the backend.
   */
  async stop(announced: boolean): Promise<void> {
    const socket = this.#socket;
    if (announced) this.#session?.announceStop();
    const gone =
      socket === undefined || socket.readyState === WebSocket.CLOSED
        ? Promise.resolve()
        : new Promise<void>((resolve) => socket.once('close', () => resolve()));
    this.#send({ type: 'stop.requested' });
    await gone;
  }

  #createLink(): Actor<typeof agentLinkMachine> {
    const { clock, log } = this.#ports;
    const logic = agentLinkMachine.provide({
      actions: {
        openSocket: () => this.#open(),
        abandonSocket: () => this.#socket?.terminate(),
        closeSocket: () => this.#session?.close(),
        beginSession: () => this.#beginSession(),
        missConfig: () => log.warn({}, 'the initial entity config was never received, using the local entity'),
        beginKeepalives: () => {
          this.#ports.beginKeepalives((keepalive) => this.#session?.sendKeepalive(keepalive));
          this.#isReady = true;
          this.flush();
          this.#ports.sessionReady();
        },
        endKeepalives: () => {
          this.#isReady = false;
          this.#ports.endKeepalives();
        },
      },
    });
    return createActor(logic, {
      input: this.#settings.link,
      clock: {
        setTimeout: (fire: () => void, delayMs: number) => clock.after(delayMs, fire),
        clearTimeout: (cancel: () => void) => cancel(),
      },
    });
  }

  /** Ignores events of a socket that outlives the stopped link. */
  #send(event: EventFrom<typeof agentLinkMachine>): void {
    if (this.#link.getSnapshot().status === 'active') this.#link.send(event);
  }

  #open(): void {
    const url = this.#urls[this.#attempts++ % this.#urls.length] ?? '';
    const proxy = this.#settings.proxies.get(url);
    const through = proxy === undefined ? {} : { proxy: shownUrl(proxy.href) };
    this.#ports.log.info(through, `connecting to backend URL "${shownUrl(url)}"`);
    const log = this.#ports.log.child({ 'backend-url': shownUrl(url), ...through });
    let ended = false;
    // Logs one line for each failed attempt.
    const fail = (error: string, httpStatus?: number): void => {
      if (ended) return;
      ended = true;
      this.#ports.metrics.count('websocket_errors');
      if (this.#link.getSnapshot().status === 'active') log.error({ error }, 'reconnection attempt failed');
      this.#send({ type: 'attempt.failed', jitter: this.#ports.random(), httpStatus });
    };
    const isSecure = url.startsWith('wss:');
    const tls = isSecure ? this.#ports.tlsOptions() : undefined;
    const tunnel = this.#tunnelTo(url, tls);
    const socket = new WebSocket(url, {
      ...tls,
      ...(tunnel === undefined ? {} : { agent: tunnel }),
      ...this.#clientOptions(),
    });
    this.#socket = socket;
    if (tunnel !== undefined) socket.once('close', () => tunnel.abandon());
    socket.on('upgrade', (response: IncomingMessage) => {
      const codec = acceptsLine(response.rawHeaders, protobufCodec.mediaType) ? protobufCodec : jsonCodec;
      this.#options = { acknowledging: acknowledgesEvents(response.headers), codec };
      this.#lastCodec = codec;
      this.#ports.metrics.count('new_connections');
      log.info({ 'backend-id': response.headers['backend-id'] }, 'successfully connected');
    });
    socket.on('unexpected-response', (_request: ClientRequest, response: IncomingMessage) => {
      void refusalText(response).then((error) => {
        fail(error, response.statusCode);
        socket.terminate();
      });
    });
    socket.on('open', () => {
      const atMs = this.#ports.clock.monotonicMs();
      this.#send({ type: 'handshake.accepted', atMs, jitter: this.#ports.random() });
    });
    socket.on('error', (error) => {
      if (this.#session === undefined) fail(describeConnectionError(error, isSecure));
      else {
        this.#ports.metrics.count('websocket_errors');
        log.error({ err: error }, 'transport receive error');
      }
    });
    socket.on('close', (code, reason) => {
      const session = this.#session;
      if (session === undefined) {
        fail(`closed with code ${code}`);
        return;
      }
      session.end();
      this.#session = undefined;
      log.info({ code, reason: reason.toString() }, 'connection closed');
      if (code === CLOSE_TOO_LARGE) this.#dropTooLarge(session.largestKeepaliveBytes, log);
      this.#send({ type: 'socket.closed', atMs: this.#ports.clock.monotonicMs(), jitter: this.#ports.random() });
    });
  }

  /** `tls` is for a `wss:` URL. */
  #tunnelTo(url: string, tls: TlsOptions | undefined): ProxyTunnel | undefined {
    const proxy = this.#settings.proxies.get(url);
    if (proxy === undefined) return undefined;
    const { hostname, port } = new URL(url);
    return new ProxyTunnel(
      proxy,
      { host: bareHost(hostname), port: Number(port || (tls === undefined ? 80 : 443)) },
      tls,
    );
  }

  #clientOptions(): ClientOptions {
    return {
      headers: helloHeaders(this.#settings.hello, this.#settings.credentials, {
        accept: protobufCodec.mediaType,
        contentType: this.#lastCodec?.mediaType,
      }),
      perMessageDeflate: false,
      // Text messages are decoded by their type, like binary ones.
      skipUTF8Validation: true,
      maxPayload: MAX_MESSAGE_BYTES,
      finishRequest: (request) => {
        request.once('socket', (socket) => {
          if (socket.connecting) socket.once('connect', () => this.#send({ type: 'socket.connected' }));
          else this.#send({ type: 'socket.connected' });
        });
        request.end();
      },
    };
  }

  #beginSession(): void {
    if (this.#socket === undefined) throw new Error('session without a socket');
    this.#ports.sessionBegan();
    this.#session = new Session(this.#socket, this.#options, this.#settings.heartbeat, {
      clock: this.#ports.clock,
      log: this.#ports.log,
      metrics: this.#ports.metrics,
      queue: this.#ports.queue,
      received: (message) => this.#received(message),
    });
  }

  #received(message: EntityConfig | CheckRequest): void {
    if (!isCheckRequest(message)) {
      this.#ports.configReceived(message);
      this.#send({ type: 'config.received' });
    } else if (this.#link.getSnapshot().matches({ connected: 'ready' })) {
      this.#ports.checkRequested(message);
    } else {
      this.#ports.log.debug(
        { check: message.config.metadata.name },
        'ignoring a check request before the entity config',
      );
    }
  }

  /** Drops the largest event that was sent, unless a keepalive was as large: the backend does not say which message was too large. */
  #dropTooLarge(keepaliveBytes: number, log: Log): void {
    const dropped = this.#ports.queue.dropLargestSent(keepaliveBytes);
    if (dropped === undefined) {
      const message = 'a message was too large for the backend, and no unconfirmed event is larger than the keepalive';
      log.error({ payload_size: keepaliveBytes }, message);
      return;
    }
    log.error({ n: dropped.n, payload_size: dropped.bytes }, 'dropping an event that is too large for the backend');
  }
}
