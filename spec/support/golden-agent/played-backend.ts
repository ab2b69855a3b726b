import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { type WebSocket, WebSocketServer } from 'ws';
import { parseEntityConfig } from '../../../src/resources/entity.ts';
import { parseCheckRequest } from '../../../src/wire/check-request.ts';
import { jsonCodec, protobufCodec } from '../../../src/wire/codec.ts';
import { readEvent } from '../../../src/wire/protobuf-codec.ts';
import { freePort } from '../free-port.ts';
import { listenLocally } from '../local-server.ts';
import type { BackendRole, Refusal } from './scenario.ts';

const UNKNOWN_ENTITY = { metadata: { name: 'not found', namespace: 'default' }, entity_class: 'agent' };

export interface PlayedFrame {
  readonly type: string;
  readonly body: unknown;
  isTaken: boolean;
}

/** The name of the check in a frame; empty without one. */
export const checkOf = ({ body }: PlayedFrame): string =>
  (body as { check?: { metadata?: { name?: string } } }).check?.metadata?.name ?? '';

export interface PlayedSession {
  readonly headers: Record<string, unknown>;
  /** The common name of the client certificate. */
  readonly peer: string | undefined;
  readonly frames: PlayedFrame[];
  readonly socket: WebSocket;
  closed: { code: number; reason: string } | undefined;
}

/** A backend that plays its role in a recording, on a port that it keeps while it is down. */
export class PlayedBackend {
  readonly sessions: PlayedSession[] = [];
  handshakes = 0;
  port = 0;
  refusal: Refusal | null | undefined;
  readonly #role: BackendRole;
  readonly #isProtobuf: boolean;
  #server: Server | undefined;

  constructor(role: BackendRole) {
    this.#role = role;
    this.refusal = role.refuse;
    this.#isProtobuf = role.accept?.includes(protobufCodec.mediaType) === true;
  }

  get frames(): PlayedFrame[] {
    return this.sessions.flatMap(({ frames }) => frames);
  }

  async up(): Promise<void> {
    const { tls, accept = [jsonCodec.mediaType], pong = true } = this.#role;
    const options = tls && { key: tls.key, cert: tls.cert, ca: tls.ca, requestCert: tls.ca !== undefined };
    const server = options === undefined ? createServer() : createSecureServer(options);
    const sockets = new WebSocketServer({ noServer: true, autoPong: pong });
    sockets.on('headers', (lines) => {
      lines.push('Backend-ID: fake', ...accept.map((type) => `Accept: ${type}`));
    });
    server.on('tlsClientError', () => undefined);
    server.on('upgrade', (request, socket, head) => {
      socket.on('error', () => undefined);
      this.handshakes += 1;
      if (this.refusal) refuse(socket, this.refusal);
      else sockets.handleUpgrade(request, socket, head, (open) => this.#accept(open, request));
    });
    if (this.port === 0) this.port = await freePort();
    await listenLocally(server, this.port);
    this.#server = server;
  }

  async down(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    this.drop();
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }

  /** Cuts the connections. */
  drop(): void {
    for (const { socket } of this.sessions) socket.terminate();
  }

  /** Sends a frame on the last connection. */
  send(type: string, value: object): void {
    this.sendRaw(encoded(type, value, this.#isProtobuf));
  }

  sendRaw(message: string | Buffer): void {
    this.sessions.at(-1)?.socket.send(message);
  }

  #accept(socket: WebSocket, request: IncomingMessage): void {
    const name = (request.socket as Partial<TLSSocket>).getPeerCertificate?.().subject?.CN;
    const peer = Array.isArray(name) ? name[0] : name;
    const session: PlayedSession = { headers: request.headers, peer, frames: [], socket, closed: undefined };
    this.sessions.push(session);
    socket.on('error', () => undefined);
    socket.on('close', (code, reason) => (session.closed = { code, reason: reason.toString() }));
    socket.on('message', (data: Buffer) => {
      const end = data.indexOf('\n');
      const payload = data.subarray(end + 1);
      const body: unknown = this.#isProtobuf ? readEvent(payload) : JSON.parse(payload.toString());
      session.frames.push({ type: data.toString('latin1', 0, end), body, isTaken: false });
    });
    const { config = UNKNOWN_ENTITY } = this.#role;
    if (config !== null) socket.send(encoded('entity_config', config, this.#isProtobuf));
  }
}

/** Frames of the backend are JSON, or protobuf where the connection speaks it. */
function encoded(type: string, value: object, isProtobuf: boolean): string | Buffer {
  if (!isProtobuf) return `${type}\n${JSON.stringify(value)}`;
  const payload =
    type === 'entity_config'
      ? protobufCodec.encodeEntityConfig(parseEntityConfig(value))
      : protobufCodec.encodeCheckRequest(parseCheckRequest(value));
  return Buffer.concat([Buffer.from(`${type}\n`), Buffer.from(payload)]);
}

function refuse(socket: Duplex, { status, body }: Refusal): void {
  socket.end(
    `HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
