import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { Inspection } from '../../actors/inspection/inspection.ts';
import { parseSince, type Since } from '../../actors/inspection/position.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { type ActorAddress, parseActorAddresses } from '../../resources/actor-address.ts';
import { Forbidden, Overloaded, Unauthenticated } from '../../resources/errors.ts';
import type { AccessControl } from '../../auth/access-control.ts';
import { type ErrorAnswer, errorAnswer } from '../answer/errors.ts';
import { InspectSocket } from './inspector-socket.ts';
import { parseQuery } from '../request/query.ts';
import { INSPECT_PATH } from './upgradable-request.ts';
import type { Caller } from '../../auth/caller.ts';
import type { Tickets } from '../../auth/tickets.ts';

/** The permission that an inspector needs. */
const ACCESS = { resource: 'inspect', verb: 'get', namespace: undefined, name: '' } as const;
const MAX_INSPECTORS = 8;
/** An inspector sends nothing that is used. */
const MAX_RECEIVED_BYTES = 4_096;
/** The time between the close frame and the cut of a connection at a stop. */
const STOP_GRACE_MS = 2_000;

export interface InspectEndpointPorts {
  inspection: Pick<Inspection, 'attach' | 'assertReached'>;
  tickets: Pick<Tickets, 'redeem' | 'callerNow'>;
  access: Pick<AccessControl, 'assertAllowed'>;
  clock: Clock;
  log: Log;
}

interface Admission {
  caller: Caller;
  addresses: ActorAddress[];
  since: Since | undefined;
}

/** `WS /debug/inspect`: what some actors do, in the messages of XState's inspector. */
export class InspectEndpoint {
  readonly #ports: InspectEndpointPorts;
  readonly #webSockets = new WebSocketServer({
    noServer: true,
    clientTracking: true,
    perMessageDeflate: false,
    handleProtocols: () => false,
    maxPayload: MAX_RECEIVED_BYTES,
  });

  #isStopping = false;

  constructor(ports: InspectEndpointPorts) {
    this.#ports = ports;
  }

  /** Takes a request for an upgrade, which the server emits for `UpgradableRequest` only. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { log, clock, inspection } = this.#ports;
    socket.on('error', (err) => {
      log.debug({ err }, 'inspector socket failed');
    });
    try {
      const { caller, addresses, since } = this.#admit(request);
      this.#webSockets.handleUpgrade(request, socket, head, (webSocket) => {
        const reader = new InspectSocket(webSocket, { clock, mayInspect: () => this.#mayStillInspect(caller) });
        webSocket.on('close', inspection.attach(addresses, since, reader));
        log.info({ username: caller.username, actors: addresses.length }, 'inspector connected');
      });
    } catch (error) {
      const answered = { method: request.method ?? '', path: INSPECT_PATH };
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
  #admit(request: IncomingMessage): Admission {
    const query = parseQuery(request.url ?? '');
    const ticket = query.get('ticket') ?? '';
    if (ticket === '') throw new Unauthenticated('ticket must be given, from POST /api/mon/v1/tickets');
    const caller = this.#ports.tickets.redeem(ticket);
    this.#ports.access.assertAllowed(caller, ACCESS);
    if (this.#isStopping) throw new Overloaded('the backend is stopping');
    if (this.#webSockets.clients.size >= MAX_INSPECTORS) throw new Overloaded(`at most ${MAX_INSPECTORS} inspectors`);
    const addresses = parseActorAddresses(query.getAll('actor'));
    const asked = query.get('since');
    const since = asked === null ? undefined : parseSince(asked);
    if (since !== undefined) this.#ports.inspection.assertReached(since);
    return { caller, addresses, since };
  }

  /** Whether the admitted caller still has the permission. */
  #mayStillInspect(admitted: Caller): boolean {
    const { tickets, access } = this.#ports;
    const caller = tickets.callerNow(admitted);
    if (caller === undefined) return false;
    try {
      access.assertAllowed(caller, ACCESS);
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
