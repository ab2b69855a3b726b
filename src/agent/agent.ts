import { randomUUID } from 'node:crypto';
import type { ProcessReaper } from '../exec/process-reaper.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { LinkSettings } from '../machines/agent-link.ts';
import type { EntityConfig } from '../resources/entity.ts';
import type { CheckEvent } from '../resources/event.ts';
import { NOT_FOUND_NAME } from '../wire/json-codec.ts';
import { Connection, type TlsOptions } from './connection.ts';
import { AgentEntity, type EntitySettings } from './entity.ts';
import { EventQueue } from './event-queue.ts';
import { Executor } from './executor.ts';
import type { HeartbeatSettings } from './heartbeat.ts';
import { type KeepaliveSettings, Keepalives } from './keepalives.ts';
import { encodeWithinLimit } from './outgoing-event.ts';
import { SequenceNumbers } from './sequence-numbers.ts';
import type { QueueStore } from './spill.ts';
import { SystemInfo } from './system-info.ts';

/** Time that a stop waits for running checks, and then for the delivery of their results. */
const CHECK_GRACE_MS = 5_000;
const DELIVERY_GRACE_MS = 1_000;
const DELIVERY_POLL_MS = 20;
/** Limits the wait for a disk that hangs. */
const QUEUE_CLOSE_MS = 5_000;

export interface AgentSettings extends EntitySettings {
  readonly backendUrls: readonly string[];
  readonly password: string;
  readonly link: Omit<LinkSettings, 'waitsForConfig'>;
  readonly heartbeat: HeartbeatSettings;
  readonly keepalive: KeepaliveSettings & EntitySettings['keepalive'];
  readonly maxQueuedEvents: number;
}

/** TLS settings for `wss:` backends. */
export interface ClientTls {
  /** Whether the agent presents a client certificate. It then sends no password to any backend. */
  readonly showsCertificate: boolean;
  /** The options for the next connection attempt. */
  options(): TlsOptions;
}

interface AgentPorts {
  clock: Clock;
  log: Log;
  /** Uniform in [0, 1). */
  random(): number;
  /** Stores queued events; without it they stay in memory. The agent closes it. */
  store: QueueStore | undefined;
  tls: ClientTls;
  /** When present, checks are terminated with this program. */
  reaper?: ProcessReaper | undefined;
}

/** Assembles the parts of an agent: the connection receives check requests, the event queue sends results. */
export class Agent {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #systemInfo: SystemInfo;
  readonly #entity: AgentEntity;
  readonly #sequences = new SequenceNumbers();
  readonly #queue: EventQueue;
  readonly #executor: Executor;
  readonly #keepalives: Keepalives;
  readonly #connection: Connection;
  #stopping = false;

  constructor(settings: AgentSettings, version: string, ports: AgentPorts) {
    const { clock, log, store, tls } = ports;
    const { name, namespace, subscriptions, user, password } = settings;
    this.#clock = clock;
    this.#log = log;
    this.#systemInfo = new SystemInfo(clock, log);
    this.#entity = new AgentEntity(settings, version, () => this.#systemInfo.current, clock);
    this.#queue = new EventQueue(store, settings.maxQueuedEvents, { clock, log });
    const building = {
      clock,
      entity: () => this.#entity.current(),
      nextSequence: (checkName: string) => this.#sequences.next(checkName),
    };
    this.#executor = new Executor({ ...building, log, reaper: ports.reaper, deliver: (event) => this.#deliver(event) });
    this.#keepalives = new Keepalives(settings.keepalive, building);
    this.#connection = new Connection(
      {
        backendUrls: settings.backendUrls,
        // Without a store the queue is lost with the process, so the next process starts a queue with a new id.
        hello: {
          agentName: name,
          namespace,
          subscriptions: [...subscriptions],
          user,
          queueId: store?.id ?? randomUUID(),
        },
        credentials: tls.showsCertificate ? undefined : { username: user, password },
        link: { ...settings.link, waitsForConfig: !settings.isAgentManaged },
        heartbeat: settings.heartbeat,
      },
      {
        clock,
        log,
        random: () => ports.random(),
        queue: this.#queue,
        tlsOptions: () => tls.options(),
        sessionBegan: () => {
          this.#sequences.restart();
          this.#entity.resetConfig();
        },
        configReceived: (config) => this.#configReceived(config),
        checkRequested: (request) => this.#executor.accept(request),
        beginKeepalives: (send) => this.#keepalives.begin(send),
        endKeepalives: () => this.#keepalives.end(),
      },
    );
  }

  async start(): Promise<void> {
    await this.#systemInfo.start();
    if (!this.#stopping) this.#connection.start();
  }

  /**
   * Waits a limited time for running checks and for the delivery of their results. A second call aborts running checks.
   */
  async stop(): Promise<void> {
    if (this.#stopping) {
      this.#executor.abort();
      return;
    }
    this.#stopping = true;
    await this.#executor.stop(CHECK_GRACE_MS);
    await this.#delivered();
    await this.#connection.stop();
    this.#systemInfo.stop();
    await this.#closeQueue();
  }

  #deliver(event: CheckEvent): void {
    const { metadata, proxy_entity_name: proxy } = event.check;
    this.#queue.push(encodeWithinLimit(event), `${metadata.name ?? ''}/${proxy}`);
    this.#connection.flush();
  }

  #configReceived(config: EntityConfig): void {
    if (config.metadata.name === NOT_FOUND_NAME || this.#entity.adopt(config)) return;
    this.#log.warn({ name: config.metadata.name }, 'ignoring the entity config of another entity');
  }

  async #closeQueue(): Promise<void> {
    const events = this.#queue.size;
    if (events > 0) this.#log.warn({ events }, 'stopping with undelivered events');
    let cancel = (): void => undefined;
    const late = new Promise<'late'>((resolve) => {
      cancel = this.#clock.after(QUEUE_CLOSE_MS, () => resolve('late'));
    });
    const end = await Promise.race([this.#queue.close(), late]);
    cancel();
    if (end === 'late') this.#log.error({ events }, 'failed to close the event queue in time');
  }

  async #delivered(): Promise<void> {
    const endMs = this.#clock.monotonicMs() + DELIVERY_GRACE_MS;
    while (this.#queue.size > 0 && this.#connection.isOpen && this.#clock.monotonicMs() < endMs) {
      await new Promise<void>((resolve) => void this.#clock.after(DELIVERY_POLL_MS, resolve));
    }
  }
}
