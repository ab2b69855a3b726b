import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { QueueStats } from '../../ports/queue-stats.ts';
import { type LoggedSubject, LogThrottle } from '../../rules/log-throttle.ts';

/** Connections above the bound that are answered at the same time. Further ones are closed without an answer. */
const MAX_ANSWERED = 16;
/** The time that a client has to send its request and to receive the refusal. */
const REFUSAL_MS = 1_000;

export interface ConnectionBoundPorts {
  /** The name of the port in the log. */
  port: string;
  limit: number;
  /** Called when a connection has closed. */
  closed?: (() => void) | undefined;
  clock: Clock;
  log: Log;
}

/** Bounds the connections of a server, so that they leave descriptors for everything else. */
export class ConnectionBound {
  readonly #ports: ConnectionBoundPorts;
  /** All connections, with those that have not finished their TLS handshake. */
  #open = 0;
  /** Connections within the bound. */
  #accepted = 0;
  /** Connections above the bound, which are answered with a refusal. */
  readonly #answered = new WeakSet<Socket>();
  #refused = 0;
  readonly #throttle = new LogThrottle(new LRUCache<string, LoggedSubject>({ max: 1 }));

  constructor(ports: ConnectionBoundPorts) {
    this.#ports = ports;
  }

  get limit(): number {
    return this.#ports.limit;
  }

  get stats(): QueueStats {
    return { used: this.#accepted, limit: this.#ports.limit, refused: this.#refused };
  }

  /** Counts the connections of the server from now on. Its requests must be refused where `isRefused` says so. */
  guard(server: Server): void {
    server.on('connection', (socket: Socket) => {
      this.#open += 1;
      socket.once('close', () => {
        this.#open -= 1;
        this.#ports.closed?.();
      });
      if (this.#open <= this.#ports.limit + MAX_ANSWERED) return;
      this.#refuse();
      socket.destroy();
    });
    server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
      if (!socket.destroyed) this.#admit(socket);
    });
  }

  /** Whether the connection is above the bound. It is closed within a second. */
  isRefused(socket: Socket): boolean {
    return this.#answered.has(socket);
  }

  #admit(socket: Socket): void {
    if (this.#accepted < this.#ports.limit) {
      this.#accepted += 1;
      socket.once('close', () => {
        this.#accepted -= 1;
      });
      return;
    }
    this.#refuse();
    this.#answered.add(socket);
    const cancel = this.#ports.clock.after(REFUSAL_MS, () => socket.destroy());
    socket.once('close', cancel);
  }

  #refuse(): void {
    const { clock, log, port, limit } = this.#ports;
    this.#refused += 1;
    const connections = this.#throttle.note(port, clock.monotonicMs());
    if (connections === undefined) return;
    log.warn({ port, limit, connections }, 'too many connections, further ones are refused');
  }
}
