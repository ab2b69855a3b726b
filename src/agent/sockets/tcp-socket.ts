import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { InvalidResource } from '../../resources/errors.ts';
import type { Event } from '../../resources/event.ts';
import { ByteBudget } from '../queue/byte-budget.ts';
import { parseResults } from './first-generation-result.ts';

/** The total time that a client may take. Source: spec/03 7.1. */
const EXCHANGE_LIMIT_MS = 5_000;
/** Without further bytes for this long, what has arrived is parsed. */
const QUIET_MS = 50;
const MAX_CONNECTIONS = 256;
const MAX_PAYLOAD_BYTES = 10 * 1024 * 1024;
/** Bytes that all connections hold. What exceeds them is answered with `invalid`. */
const MAX_HELD_PAYLOAD_BYTES = 64 * 1024 * 1024;

export interface SocketPorts {
  clock: Clock;
  log: Log;
  /** Takes all of the events or none of them. @throws InvalidResource */
  accept(events: readonly Event[]): void;
}

/** The TCP socket: one result, or list of results, per connection. The answer is `ok`, `invalid` or `pong`. */
export class TcpSocket {
  readonly #ports: SocketPorts;
  readonly #server: Server;
  readonly #exchanges = new Set<Exchange>();

  constructor(ports: SocketPorts) {
    this.#ports = ports;
    const budget = new ByteBudget(MAX_HELD_PAYLOAD_BYTES);
    this.#server = createServer({ allowHalfOpen: true }, (socket) => {
      const exchange = new Exchange(socket, budget, ports);
      this.#exchanges.add(exchange);
      socket.once('close', () => this.#exchanges.delete(exchange));
    });
    this.#server.maxConnections = MAX_CONNECTIONS;
  }

  /** Returns the port. Rejects with the error of the system. */
  async listen(host: string, port: number): Promise<number> {
    this.#server.listen({ host, port });
    await once(this.#server, 'listening');
    this.#server.on('error', (err) => this.#ports.log.error({ err }, 'TCP listener failed'));
    const address = this.#server.address();
    return address !== null && typeof address === 'object' ? address.port : port;
  }

  /**
   * Stops listening, and closes connections whose result is incomplete, so that their clients see that it was not
   * accepted.
   */
  close(): void {
    if (this.#server.listening) this.#server.close();
    this.#server.unref();
    for (const exchange of this.#exchanges) exchange.abandon();
  }
}

/** One connection. */
class Exchange {
  readonly #socket: Socket;
  readonly #budget: ByteBudget;
  readonly #ports: SocketPorts;
  readonly #cancelLimit: () => void;
  #cancelQuiet: (() => void) | undefined;
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** The next size at which parsing is tried at once. It grows with each try, so that many small chunks cost little. */
  #nextTryBytes = 1;
  /** The silence after which parsing is tried. It grows with each try, too. */
  #quietMs = QUIET_MS;
  #isOver = false;

  constructor(socket: Socket, budget: ByteBudget, ports: SocketPorts) {
    this.#socket = socket;
    this.#budget = budget;
    this.#ports = ports;
    this.#cancelLimit = ports.clock.after(EXCHANGE_LIMIT_MS, () => this.#answer('invalid'));
    socket.unref();
    socket.on('data', (chunk) => this.#receive(chunk));
    socket.on('end', () => this.#tryParse(true));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#end());
  }

  /** Closes the connection, unless it was answered. */
  abandon(): void {
    if (this.#isOver) return;
    this.#end();
    this.#socket.destroy();
  }

  #receive(chunk: Buffer): void {
    if (this.#isOver) return;
    this.#cancelQuiet?.();
    const hasRoom = this.#bytes + chunk.length <= MAX_PAYLOAD_BYTES && this.#budget.take(chunk.length);
    if (hasRoom) {
      this.#chunks.push(chunk);
      this.#bytes += chunk.length;
    }
    if (!hasRoom) this.#answer('invalid');
    else if (this.#bytes >= this.#nextTryBytes) this.#tryParse(false);
    if (this.#isOver) return;
    this.#cancelQuiet = this.#ports.clock.after(this.#quietMs, () => {
      this.#quietMs *= 2;
      this.#tryParse(false);
    });
  }

  #tryParse(hasEnded: boolean): void {
    if (this.#isOver) return;
    const bytes = Buffer.concat(this.#chunks);
    this.#chunks = [bytes];
    this.#nextTryBytes = bytes.length * 2;
    if (bytes.length < 64 && bytes.toString('latin1').trim() === 'ping') {
      this.#answer('pong');
      return;
    }
    try {
      const events = parseResults(bytes);
      if (events === undefined) {
        if (hasEnded) this.#answer('invalid');
        return;
      }
      this.#ports.accept(events);
      this.#answer('ok');
    } catch (error) {
      if (!(error instanceof InvalidResource)) throw error;
      this.#ports.log.error({ error: error.message }, 'TCP socket received an invalid result');
      this.#answer('invalid');
    }
  }

  #answer(text: 'ok' | 'invalid' | 'pong'): void {
    if (this.#isOver) return;
    this.#end();
    this.#socket.end(text, () => this.#socket.destroySoon());
  }

  #end(): void {
    this.#isOver = true;
    this.#chunks = [];
    this.#budget.give(this.#bytes);
    this.#bytes = 0;
    this.#cancelLimit();
    this.#cancelQuiet?.();
  }
}
