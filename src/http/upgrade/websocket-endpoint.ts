import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { AccessControl } from '../../auth/access-control.ts';
import type { Caller } from '../../auth/caller.ts';
import type { Tickets } from '../../auth/tickets.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { Forbidden, Overloaded, Unauthenticated } from '../../resources/errors.ts';
import { type ErrorAnswer, errorAnswer } from '../answer/errors.ts';
import { parseQuery } from '../request/query.ts';
import { PacedSocket } from './paced-socket.ts';
import { pathOf } from '../request/request-path.ts';

/** The clients send nothing that is used. */
const MAX_RECEIVED_BYTES = 4_096;
/** The time between the close frame and the cut of a connection at a stop. */
const STOP_GRACE_MS = 2_000;

export interface WebSocketEndpointPorts {
  tickets: Pick<Tickets, 'redeem' | 'callerNow'>;
  access: Pick<AccessControl, 'assertAllowed'>;
  clock: Clock;
  log: Log;
}

/** The service behind one WebSocket. `Asked` is the parsed query. */
export interface WebSocketService<Asked> {
  /** The plural of its clients, for messages. */
  readonly clients: string;
  readonly maxClients: number;
  /** @throws Forbidden when the caller may not use the service */
  assertAllowed(caller: Caller): void;
  /** @throws InvalidResource */
  parse(query: URLSearchParams): Asked;
  /** Serves an open connection, and returns what ends the service. */
  serve(socket: PacedSocket, caller: Caller, asked: Asked): () => void;
}

/** A WebSocket to which clients are admitted by a ticket in the query, because browsers cannot set headers. */
export class WebSocketEndpoint<Asked> {
  readonly #service: WebSocketService<Asked>;
  readonly #ports: WebSocketEndpointPorts;
  readonly #webSockets = new WebSocketServer({
    noServer: true,
    clientTracking: true,
    perMessageDeflate: false,
    handleProtocols: () => false,
    maxPayload: MAX_RECEIVED_BYTES,
  });
  #isStopping = false;

  constructor(service: WebSocketService<Asked>, ports: WebSocketEndpointPorts) {
    this.#service = service;
    this.#ports = ports;
  }

  /** Takes a request for an upgrade, which the server emits for `UpgradableRequest` only. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { log, clock } = this.#ports;
    socket.on('error', (err) => {
      log.debug({ err }, 'socket of a WebSocket failed');
    });
    try {
      const { caller, asked } = this.#admit(request);
      this.#webSockets.handleUpgrade(request, socket, head, (webSocket) => {
        const paced = new PacedSocket(webSocket, { clock, isAllowed: () => this.#isStillAllowed(caller) });
        paced.onEnd(this.#service.serve(paced, caller, asked));
      });
    } catch (error) {
      const answered = { method: request.method ?? '', path: pathOf(request) };
      refuse(socket, errorAnswer(error, { log, request: answered, asText: false }));
    }
  }

  /** Closes the connections. Resolves when all are closed or cut. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const sockets = [...this.#webSockets.clients];
    const closed = sockets.map((socket) => new Promise<void>((resolve) => void socket.once('close', () => resolve())));
    for (const socket of sockets) socket.close(1001, 'bye');
    const cancel = this.#ports.clock.after(STOP_GRACE_MS, () => {
      for (const socket of sockets) socket.terminate();
    });
    await Promise.all(closed);
    cancel();
  }

  /** @throws Unauthenticated, Forbidden, InvalidResource, Overloaded */
  #admit(request: IncomingMessage): { caller: Caller; asked: Asked } {
    const query = parseQuery(request.url ?? '');
    const ticket = query.get('ticket') ?? '';
    if (ticket === '') throw new Unauthenticated('ticket must be given, from POST /api/mon/v1/tickets');
    const caller = this.#ports.tickets.redeem(ticket);
    this.#service.assertAllowed(caller);
    if (this.#isStopping) throw new Overloaded('the backend is stopping');
    const { clients, maxClients } = this.#service;
    if (this.#webSockets.clients.size >= maxClients) throw new Overloaded(`at most ${maxClients} ${clients}`);
    return { caller, asked: this.#service.parse(query) };
  }

  /** Whether the admitted caller still has the permission. */
  #isStillAllowed(admitted: Caller): boolean {
    const caller = this.#ports.tickets.callerNow(admitted);
    if (caller === undefined) return false;
    try {
      this.#service.assertAllowed(caller);
      return true;
    } catch (error) {
      if (error instanceof Forbidden) return false;
      throw error;
    }
  }
}

function refuse(socket: Duplex, { status, type = 'application/json', body, headers }: ErrorAnswer): void {
  const all = { 'Content-Type': type, 'Content-Length': Buffer.byteLength(body), Connection: 'close', ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  const statusLine = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`;
  socket.end(`${[statusLine, ...lines].join('\r\n')}\r\n\r\n${body}`, () => {
    socket.destroy();
  });
}
