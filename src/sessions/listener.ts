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
import type { CheckRequested } from '../store/decision.ts';
import type { Page, PageRequest } from '../store/page.ts';
import type { ResourceStore } from '../store/resource-store.ts';
import { type AgentPortStats, agentPortStats } from './agent-port-stats.ts';
import { FrameRefusals } from './frame-refusals.ts';
import type { HandshakeRefusal, HandshakeRefusals } from './handshake-refusals.ts';
import { Handshakes, type HandshakeSettings, pathOf } from './handshakes.ts';
import { DuplicateSessions } from './duplicate-sessions.ts';
import { PORT_LIMITS } from './port-limits.ts';
import { isRefusal } from './refusal.ts';
import { refusalHeaders } from './refusals.ts';
import { type Opening, Session } from './session.ts';
import { sessionInfo } from './session-info.ts';
import { SessionCounts } from './session-counts.ts';
import { type RegistryListener, SessionRegistry } from './session-registry.ts';
import { AdmissionPacer } from './admission-pacer.ts';

const HANDSHAKE_TIMEOUT_MS = 15_000;
/** How late a handshake that takes too long may be cut. */
const HANDSHAKE_CHECK_INTERVAL_MS = 1_000;
/** Between asking the agents to leave and cutting those who did not. */
const STOP_GRACE_MS = 2_000;

export interface ListenerPorts extends HandshakeSettings {
  system: Pick<ActorSystem, 'agents' | 'mustPause' | 'isFailing' | 'listen'>;
  resources: ResourceStore;
  /** For clear text unless given. */
  createServer?: ((options: ServerOptions) => Server) | undefined;
  /** So many sessions got the request. Must not throw. */
  requested(announcement: CheckRequested, sessions: number): void;
  /** Rings that were empty have a member. Must not throw. */
  ringsJoined(namespace: string, subscriptions: readonly string[]): void;
  /** Answers `/health` and `/ready`, the same as the API does. */
  status: RequestListener;
  writeTimeoutMs: number;
}

/** The agent port: handshakes, and a session for each connection that passes. */
export class AgentListener {
  readonly server: Server;
  readonly counts = new SessionCounts();
  readonly refusedFrames = new FrameRefusals();
  readonly #ports: ListenerPorts;
  readonly #handshakes: Handshakes;
  readonly #registry: SessionRegistry;
  readonly #duplicates: DuplicateSessions<Session>;
  readonly #pacer = new AdmissionPacer();
  /** Before those are read on who sent for nothing, or what took long. */
  readonly #slowed = new AdmissionPacer(1);
  /** Sessions that are gone, and whose end waits at the turnstile. */
  #ending = 0;

  constructor(ports: ListenerPorts) {
    this.#ports = ports;
    const registryListener: RegistryListener = {
      deleted: ({ id }) => {
        ports.system.agents.tell(id, { type: 'entity.deleted' });
      },
      requested: (announcement, sessions) => {
        ports.requested(announcement, sessions);
      },
      ringsJoined: (namespace, subscriptions) => {
        ports.ringsJoined(namespace, subscriptions);
      },
    };
    this.#registry = new SessionRegistry(registryListener, ports.clock);
    this.#duplicates = new DuplicateSessions(ports.clock, (newest) => {
      this.#tellNamesakes(newest);
    });
    this.#handshakes = new Handshakes({
      ...ports,
      pacer: this.#pacer,
      isFailing: () => ports.system.isFailing,
      sessions: () => this.#sessions,
      // One that is being closed is as good as gone.
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
    this.server.on('request', (request, response) => {
      void this.#answer(request, response);
    });
    this.server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      this.#handshakes.refuseUnreadable(error, socket as Socket);
    });
    this.server.on('upgrade', (request, socket, head) => {
      this.#handshakes.upgrade(request, socket, head);
    });
    ports.system.listen(this.#registry);
  }

  /** Who takes turns in a namespace, by subscription. */
  rings(namespace: string): ReadonlyMap<string, string[]> {
    return this.#registry.rings(namespace);
  }

  members(namespace: string, subscription: string): readonly string[] {
    return this.#registry.members(namespace, subscription);
  }

  /** Open connections of a namespace, or of all, in order of namespace, agent and id. */
  sessions(namespace: string | undefined, page: PageRequest): Page<object> {
    const { items, lastKey } = this.#registry.page(namespace, page);
    const nowMs = this.#ports.clock.nowMs();
    const info = (session: Session): object =>
      sessionInfo(session, {
        duplicates: [...this.#registry.sessionsOf(session.namespace, session.agentName)].filter(
          (other) => other !== session,
        ),
        refused: this.refusedFrames.of(session),
        nowMs,
      });
    return { items: items.map(info), lastKey };
  }

  get refusedHandshakes(): HandshakeRefusals {
    return this.#handshakes.refusals;
  }

  /** Newest first. */
  handshakeRefusals(): HandshakeRefusal[] {
    return this.refusedHandshakes.list();
  }

  /** What waits to come in, and what waits to go. */
  get waiting(): { handshakes: QueueStats; ends: QueueStats } {
    const { limits = PORT_LIMITS } = this.#ports;
    return { handshakes: this.#handshakes.waiting, ends: { used: this.#ending, limit: limits.sessions } };
  }

  get #sessions(): number {
    return this.#registry.size + this.#ending;
  }

  /** Costs all sessions. */
  figures(): AgentPortStats {
    return agentPortStats(this.#registry.open, this.counts.droppedRequests);
  }

  /** Asks every agent to leave and resolves when they have, or were cut. Who is not in yet does not come in. */
  async stop(): Promise<void> {
    const { clients } = this.#handshakes;
    this.server.close();
    this.#handshakes.close();
    this.#duplicates.stop();
    this.#ports.system.agents.closeAll();
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
      this.#handshakes.cut();
      for (const socket of clients) socket.terminate();
    });
    await Promise.all([...closed, this.#handshakes.empty()]);
    await this.#pacer.empty();
    cancel();
    this.server.closeAllConnections();
  }

  /** What is no upgrade. */
  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = pathOf(request);
    const notReady = path === '/ready' ? this.#handshakes.closed : undefined;
    if (notReady === undefined && (path === '/ready' || path === '/health')) {
      this.#ports.status(request, response);
      return;
    }
    const outcome = notReady ?? (await this.#handshakes.judge(request));
    const refusal = isRefusal(outcome) ? outcome : { status: 400, message: 'Bad Request\nnot an upgrade' };
    response.writeHead(refusal.status, refusalHeaders(refusal)).end(`${refusal.message}\n`);
  }

  /** A session on a connection whose handshake has passed. */
  open(webSocket: WebSocket, opening: Opening): void {
    const { system, resources, clock, log, writeTimeoutMs } = this.#ports;
    const session = new Session(webSocket, opening, {
      agents: system.agents,
      refusals: this.refusedFrames,
      counts: this.counts,
      clock,
      log,
      writeTimeoutMs,
      inTurn: (readOn) => {
        this.#slowed.enter(readOn);
      },
      mustPause: () => system.mustPause,
      isFailing: () => system.isFailing,
      waits: (waiting) => {
        this.#registry.waits(waiting);
      },
      subscribe: (subscriber, subscriptions) => {
        this.#registry.subscribe(subscriber, subscriptions);
      },
      leased: (member, leaseMs) => {
        this.#registry.leased(member, leaseMs);
      },
      ended: (ended, tell) => {
        this.#registry.remove(ended);
        this.#ending += 1;
        this.#pacer.enter(() => {
          this.#ending -= 1;
          tell();
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
      // Agents of one name are told the same, whenever one of them is.
      if (other !== undefined) this.#duplicates.opened(session);
    } catch (err) {
      this.counts.errors['not opened'] += 1;
      if (!(err instanceof StoreUnavailable)) log.error({ err }, 'session could not be opened');
      this.#registry.remove(session);
      webSocket.close(1011, 'the session could not be opened');
    }
  }

  #tellNamesakes(newest: Session): void {
    const { namespace, agentName } = newest;
    try {
      const stored = this.#ports.resources.get('entities', namespace, agentName);
      if (stored === undefined) return;
      for (const session of this.#registry.sessionsOf(namespace, agentName)) {
        if (session !== newest) session.configure(stored);
      }
    } catch (err) {
      this.#ports.log.error({ namespace, agent: agentName, err }, 'other sessions of the agent could not be told');
    }
  }
}
