import type { Socket } from 'node:net';
import { Server, type ServerOptions } from 'node:https';
import type { Clock } from '../../ports/clock.ts';

/** The time that a client has to send its first byte, and then to complete the handshake. */
const HANDSHAKE_TIMEOUT_MS = 15_000;
/** The time that the client of an unencrypted request has to read the answer and to close the connection. */
const LINGER_MS = 1_000;

const TEXT = 'Client sent an HTTP request to an HTTPS server. Use https://\n';
const ANSWER = `HTTP/1.0 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${TEXT.length}\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n${TEXT}`;

/**
 * An HTTPS server that can also close connections that have not finished their handshake. An unencrypted request is
 * answered with 400; a listener of `clientError` gets it instead, as an error with the code `ERR_SSL_HTTP_REQUEST`.
 */
export class TlsServer extends Server {
  readonly #sockets = new Set<Socket>();
  readonly #clock: Clock;

  constructor(options: ServerOptions, clock: Clock) {
    super({ ...options, handshakeTimeout: HANDSHAKE_TIMEOUT_MS });
    this.#clock = clock;
    const startHandshake = this.listeners('connection');
    this.removeAllListeners('connection');
    this.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => {
        this.#sockets.delete(socket);
      });
      this.#readFirstBytes(socket, () => {
        for (const listener of startHandshake) listener.call(this, socket);
      });
    });
  }

  override closeAllConnections(): void {
    super.closeAllConnections();
    for (const socket of this.#sockets) socket.destroy();
  }

  #readFirstBytes(socket: Socket, startHandshake: () => void): void {
    const abandon = (): void => {
      socket.destroy();
    };
    socket.setTimeout(HANDSHAKE_TIMEOUT_MS, abandon);
    // The peer disconnected before it sent anything.
    socket.on('error', abandon);
    socket.once('readable', () => {
      const bytes = socket.read() as Buffer | null;
      socket.setTimeout(0, abandon);
      if (bytes === null) {
        abandon();
      } else if (isUnencryptedRequest(bytes)) {
        this.#refuse(socket);
      } else {
        socket.off('error', abandon);
        socket.unshift(bytes);
        startHandshake();
      }
    });
  }

  #refuse(socket: Socket): void {
    // Unread bytes would reset the connection, and the client would lose the answer.
    socket.resume();
    const cancel = this.#clock.after(LINGER_MS, () => socket.destroy());
    socket.once('close', cancel);
    const error = Object.assign(new Error('unencrypted request'), { code: 'ERR_SSL_HTTP_REQUEST' });
    if (!this.emit('clientError', error, socket)) socket.end(ANSWER);
  }
}

/** A record of TLS never begins with a letter, and a request always does. */
const isUnencryptedRequest = (bytes: Buffer): boolean => /^[A-Za-z]/.test(bytes.toString('latin1', 0, 1));
