import {
  createServer as createClearServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { ActorSystem } from '../actors/system.ts';
import type { QueueStats } from '../ports/queue-stats.ts';
import { StoreUnavailable } from '../resources/errors.ts';
import { oneAtATime } from '../serving/one-at-a-time.ts';
import type { Page, PageRequest } from '../store/page.ts';
import type { ResourceStore } from '../store/resource-store.ts';
import { type AgentPortStats, agentPortStats } from './agent-port-stats.ts';
import { ClosedConnections } from './connection/closed-connections.ts';
import { FrameRefusals } from './connection/frame-refusals.ts';
import type { HandshakeRefusal, HandshakeRefusals } from './handshake/handshake-refusals.ts';
import { Handshakes, type HandshakeSettings, pathOf } from './handshake/handshakes.ts';
import { DuplicateSessions } from './duplicate-sessions.ts';
import { PORT_LIMITS } from './handshake/port-limits.ts';
import { isRefusal } from './handshake/refusal.ts';
import { refusalHeaders } from './handshake/validate-handshake.ts';
import { Session } from './connection/session.ts';
import type { AcceptedConnection } from './connection/session-ports.ts';
import { sessionInfo } from './session-info.ts';
import { SessionCounts } from './connection/session-counts.ts';
import { type RegistryListener, SessionRegistry } from './session-registry.ts';
import { WithoutSecrets } from './without-secrets.ts';
import { AdmissionPacer } from './pacing/admission-pacer.ts';
import { MessagePacer } from './pacing/message-pacer.ts';
import { prepareToDecode } from '../wire/json-codec.ts';

const HANDSHAKE_TIMEOUT_MS = 15_000;
/** Maximum delay before a timed-out handshake is closed. */
const HANDSHAKE_CHECK_INTERVAL_MS = 1_000;
/** Time for agents to disconnect during a stop; then their connections are terminated. */
const STOP_GRACE_MS = 2_000;

export interface ListenerPorts
  extends HandshakeSettings, Pick<RegistryListener, 'requested' | 'withheld' | 'resolveSecrets'> {
  system: Pick<ActorSystem, 'agents' | 'mustPause' | 'isFailing' | 'listen'> & {
    limits: Pick<ActorSystem['limits'], 'isMemoryFull'>;
  };
  resources: ResourceStore;
  /** Defaults to a server without TLS. */
  createServer?: ((options: ServerOptions) => Server) | undefined;
  /** Called when round-robin rings have got their first member, by this session. Must not throw. */
  ringsJoined(session: Pick<Session, 'id' | 'namespace'>, subscriptions: readonly string[]): void;
  /** Serves `/health` and `/ready` like the API. */
  status: RequestListener;
  writeTimeoutMs: number;
}

/** The agent port: validates handshakes and opens a session for each accepted connection. */
export class AgentListener {
  readonly server: Server;
  readonly counts = new SessionCounts();
  readonly refusedFrames = new FrameRefusals();
  readonly #ports: ListenerPorts;
  readonly #handshakes: Handshakes;
  readonly #registry: SessionRegistry;
  readonly #duplicates: DuplicateSessions<Session>;
  readonly #withoutSecrets: WithoutSecrets;
  readonly #pacer: AdmissionPacer;
  /** Resumes slowed connections, one in each tick. */
  readonly #slowed: AdmissionPacer;
  readonly #messagePacer: MessagePacer;
  readonly #closed = new ClosedConnections();
  /** Closed sessions whose end the pacer has not processed yet. */
  #ending = 0;

  constructor(ports: ListenerPorts) {
    this.#ports = ports;
    prepareToDecode();
    this.#pacer = new AdmissionPacer(ports.clock);
    this.#slowed = new AdmissionPacer(ports.clock, 1);
    this.#messagePacer = new MessagePacer(ports.clock);
    this.#withoutSecrets = new WithoutSecrets(ports.clock, ports.log);
    const registryListener: RegistryListener = {
      deleted: ({ id }) => {
        ports.system.agents.notify(id, { type: 'entity.deleted' });
      },
      requested: (announcement, receipts) => {
        ports.requested(announcement, receipts);
      },
      withheld: (announcement, reason) => {
        ports.withheld(announcement, reason);
      },
      resolveSecrets: (announcement) => ports.resolveSecrets(announcement),
      sentWithoutSecrets: (announcement, sessions) => {
        this.#withoutSecrets.sent(announcement, sessions);
      },
      ringsJoined: (session, subscriptions) => {
        ports.ringsJoined(session, subscriptions);
      },
    };
    this.#registry = new SessionRegistry(registryListener, ports.clock);
    this.#duplicates = new DuplicateSessions(ports.clock, (newest) => {
      this.#reconfigureDuplicates(newest);
    });
    this.#handshakes = new Handshakes({
      ...ports,
      pacer: this.#pacer,
      isFailing: () => ports.system.isFailing,
      isMemoryFull: () => ports.system.limits.isMemoryFull,
      sessions: () => this.#registry.size,
      // A connection that is being closed does not count.
      isConnected: ({ namespace, agentName }) =>
        [...this.#registry.sessionsOf(namespace, agentName)].some(({ state }) => state !== 'critical'),
      open: (webSocket, opening) => {
        this.open(webSocket, opening);
      },
    });
    const { createServer = createClearServer } = ports;
    this.server = createServer({
      requestTimeout: HANDSHAKE_TIMEOUT_MS,
      headersTimeout: HANDSHAKE_TIMEOUT_MS,
      connectionsCheckingInterval: HANDSHAKE_CHECK_INTERVAL_MS,
    });
    // With TLS, this is before the TLS handshake.
    this.server.on('connection', () => {
      this.#pacer.connectionAccepted();
    });
    const answer = oneAtATime((request, response) => void this.#answer(request, response));
    this.server.on('request', answer);
    this.server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      this.#handshakes.refuseMalformed(error, socket as Socket);
    });
    this.server.on('upgrade', (request, socket, head) => {
      this.#handshakes.upgrade(request, socket, head);
    });
    ports.system.listen(this.#registry);
  }

  /** Members of the round-robin rings in a namespace, by subscription. */
  rings(namespace: string): ReadonlyMap<string, string[]> {
    return this.#registry.rings(namespace);
  }

  members(namespace: string, subscription: string): readonly string[] {
    return this.#registry.members(namespace, subscription);
  }

  /** Open connections in a namespace, or in all, sorted by namespace, agent and id. */
  sessions(namespace: string | undefined, page: PageRequest): Page<object> {
    const { items, lastKey } = this.#registry.page(namespace, page);
    const nowMs = this.#ports.clock.nowMs();
    const info = (session: Session): object =>
      sessionInfo(session, {
        sameName: this.#registry.sessionsOf(session.namespace, session.agentName),
        refused: this.refusedFrames.of(session),
        nowMs,
      });
    return { items: items.map(info), lastKey };
  }

  get refusedHandshakes(): HandshakeRefusals {
    return this.#handshakes.refusals;
  }

  /** Sorted from newest to oldest. */
  handshakeRefusals(): HandshakeRefusal[] {
    return this.refusedHandshakes.list();
  }

  /** Handshakes in progress, and closed sessions waiting to be processed. */
  get waiting(): { handshakes: QueueStats; ends: QueueStats } {
    const { limits = PORT_LIMITS } = this.#ports;
    return { handshakes: this.#handshakes.waiting, ends: { used: this.#ending, limit: limits.sessions } };
  }

  /** Iterates over all sessions. */
  stats(): AgentPortStats {
    return agentPortStats(this.#registry.open, this.counts.droppedRequests);
  }

  /** Closes all connections. Resolves when the agents have disconnected or the grace period is over. */
  async stop(): Promise<void> {
    const { clients } = this.#handshakes;
    this.server.close();
    this.#handshakes.close();
    this.#duplicates.stop();
    this.#ports.system.agents.closeAll();
    this.#closed.stop();
    const closed = [...clients].map(
      (socket) =>
        new Promise<void>(
          (resolve) =>
            void socket.once('close', () => {
              resolve();
            }),
        ),
    );
    const cancel = this.#ports.clock.after(STOP_GRACE_MS, () => {
      this.#handshakes.destroyAll();
      for (const socket of clients) socket.terminate();
    });
    await Promise.all([...closed, this.#handshakes.empty()]);
    await this.#messagePacer.empty();
    await this.#pacer.empty();
    cancel();
    this.server.closeAllConnections();
  }

  /** Answers requests that are not upgrades. */
  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = pathOf(request);
    const notReady = path === '/ready' ? this.#handshakes.closed : undefined;
    if (notReady === undefined && (path === '/ready' || path === '/health')) {
      this.#ports.status(request, response);
      return;
    }
    const outcome = notReady ?? (await this.#handshakes.validate(request));
    const refusal = isRefusal(outcome) ? outcome : { status: 400, message: 'Bad Request\nnot an upgrade' };
    response.writeHead(refusal.status, refusalHeaders(refusal)).end(`${refusal.message}\n`);
  }

  /** Opens a session on a connection whose handshake was accepted. */
  open(webSocket: WebSocket, opening: AcceptedConnection): void {
    const { system, resources, clock, log, writeTimeoutMs } = this.#ports;
    const session = new Session(webSocket, opening, {
      agents: system.agents,
      refusals: this.refusedFrames,
      counts: this.counts,
      clock,
      log,
      writeTimeoutMs,
      inOwnTick: (readOn) => {
        this.#slowed.schedule(readOn);
      },
      messagePacer: this.#messagePacer,
      closed: this.#closed,
      mustPause: () => system.mustPause,
      isFailing: () => system.isFailing,
      awaitResume: () => {
        this.#registry.awaitResume(session);
      },
      subscribe: (subscriptions) => {
        this.#registry.subscribe(session, subscriptions);
      },
      renewLease: (leaseMs) => {
        this.#registry.renewLease(session, leaseMs);
      },
      ended: (notify) => {
        this.#registry.remove(session);
        this.#ending += 1;
        this.#pacer.schedule(() => {
          this.#ending -= 1;
          notify();
        });
      },
    });
    const { namespace, agentName, address } = session;
    const others = this.#registry.sessionsOf(namespace, agentName);
    const [other] = others;
    if (other !== undefined) {
      const fields = { namespace, agent: agentName, address, others: others.size, other: other.address };
      log.warn(fields, 'another session of this agent is open');
    }
    this.#registry.add(session);
    try {
      session.open(resources.get('entities', namespace, agentName));
      // All sessions of an agent have the same configuration.
      if (other !== undefined) this.#duplicates.opened(session);
    } catch (err) {
      this.counts.errors['not opened'] += 1;
      if (!(err instanceof StoreUnavailable)) log.error({ err }, 'failed to open a session');
      this.#registry.remove(session);
      // The session may not listen yet, and an error without a listener ends the process.
      webSocket.on('error', () => undefined);
      webSocket.close(1011, 'the session could not be opened');
    }
  }

  #reconfigureDuplicates(newest: Session): void {
    const { namespace, agentName } = newest;
    try {
      const stored = this.#ports.resources.get('entities', namespace, agentName);
      if (stored === undefined) return;
      for (const session of this.#registry.sessionsOf(namespace, agentName)) {
        if (session !== newest) session.configure(stored);
      }
    } catch (err) {
      this.#ports.log.error(
        { namespace, agent: agentName, err },
        'failed to reconfigure the other sessions of the agent',
      );
    }
  }
}
