import { randomUUID } from 'node:crypto';
import type { AssetManager, AssetManagerPorts } from '../assets/asset-manager.ts';
import type { ProcessReaper } from '../exec/process-reaper.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { LinkSettings } from '../machines/agent-link.ts';
import type { EntityConfig } from '../resources/entity.ts';
import { InvalidResource } from '../resources/errors.ts';
import type { Event } from '../resources/event.ts';
import { NOT_FOUND_NAME } from '../wire/json-codec.ts';
import { AgentMetrics } from './metrics/agent-metrics.ts';
import { ApiServer } from './api/api-server.ts';
import { Connection, type TlsOptions } from './connection/connection.ts';
import { AgentEntity, type EntitySettings } from './entity.ts';
import { EventIntake } from './event-intake.ts';
import { EventQueue } from './queue/event-queue.ts';
import type { AllowedProgram } from './execution/allow-list.ts';
import { fillBuild } from './execution/asset-tokens.ts';
import { CommandRunner } from './execution/command-runner.ts';
import { Executor, type ExecutorSettings } from './execution/executor.ts';
import type { HeartbeatSettings } from './connection/heartbeat.ts';
import { type KeepaliveSettings, Keepalives } from './keepalives.ts';
import { decodePostedEvent } from './posted-json.ts';
import { PostedQueue, type RelaySettings } from './queue/posted-queue.ts';
import { SequenceNumbers } from './sequence-numbers.ts';
import type { QueueStore } from './queue/spill.ts';
import { parseResults } from './sockets/first-generation-result.ts';
import { type SocketSettings, Sockets } from './sockets/sockets.ts';
import { StatsdListener, type StatsdSettings } from './statsd/statsd-listener.ts';
import { SystemInfo, type SystemSettings } from './system/system-info.ts';

/** Time that a stop waits for running checks, and then for the delivery of their results. */
const CHECK_GRACE_MS = 5_000;
const DELIVERY_GRACE_MS = 1_000;
const DELIVERY_POLL_MS = 20;
/** Limits the wait for a disk that hangs. */
const QUEUE_CLOSE_MS = 5_000;

export const API_CRASHED = 'the agent API has crashed';

export interface AgentSettings extends EntitySettings, ExecutorSettings {
  readonly backendUrls: readonly string[];
  readonly password: string;
  readonly link: Omit<LinkSettings, 'waitsForConfig'>;
  readonly heartbeat: HeartbeatSettings;
  readonly keepalive: KeepaliveSettings & EntitySettings['keepalive'];
  readonly maxQueuedEvents: number;
  readonly relay: RelaySettings;
  readonly api: { readonly isEnabled: boolean; readonly host: string; readonly port: number };
  readonly sockets: SocketSettings;
  readonly statsd: StatsdSettings;
  readonly system: SystemSettings;
}

/** Something that receives events of local clients. */
interface Input {
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** The dependencies of the assets of an agent. */
export type AgentAssetPorts = Required<Pick<AssetManagerPorts, 'entity' | 'fill' | 'measured'>>;

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
  /** The proxies of those backends that are reached through one, by URL. */
  proxies: ReadonlyMap<string, URL>;
  /** When present, checks are terminated with this program. The agent closes it. */
  reaper?: ProcessReaper | undefined;
  /** The commands that the agent may run; empty when every command is allowed. */
  allowList?: readonly AllowedProgram[] | undefined;
  /** Opens the assets of checks and hooks. Without it, checks with assets fail. */
  openAssets?: ((ports: AgentAssetPorts) => AssetManager) | undefined;
  /** Called when a part that the agent cannot run without fails after the start. */
  failed(error: Error, message: string): void;
}

/** Assembles the parts of an agent: the connection receives check requests, the event queue sends results. */
export class Agent {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #systemInfo: SystemInfo;
  readonly #entity: AgentEntity;
  readonly #sequences = new SequenceNumbers();
  readonly #queue: EventQueue;
  readonly #posted: PostedQueue;
  readonly #inputs: readonly Input[];
  readonly #assets: AssetManager | undefined;
  readonly #executor: Executor;
  readonly #keepalives: Keepalives;
  readonly #connection: Connection;
  readonly #reaper: ProcessReaper | undefined;
  #stopped: Promise<void> | undefined;

  constructor(settings: AgentSettings, version: string, ports: AgentPorts) {
    const { clock, log, store, tls } = ports;
    const { name, namespace, subscriptions, user, password } = settings;
    this.#clock = clock;
    this.#log = log;
    this.#systemInfo = new SystemInfo(settings.system, { clock, log });
    this.#entity = new AgentEntity(settings, version, () => this.#systemInfo.current, clock);
    this.#queue = new EventQueue(store, settings.maxQueuedEvents, { clock, log });
    this.#posted = new PostedQueue(settings.maxQueuedEvents, settings.relay, {
      clock,
      log,
      queue: this.#queue,
      store,
      isConnected: () => this.#connection.isReady,
      flush: () => this.#connection.flush(),
    });
    const intake = new EventIntake({
      clock,
      log,
      queue: this.#queue,
      posted: this.#posted,
      entity: () => this.#entity.current(),
      flush: () => this.#connection.flush(),
    });
    const metrics = new AgentMetrics();
    const building = {
      clock,
      entity: () => this.#entity.current(),
      nextSequence: (checkName: string) => this.#sequences.next(checkName),
    };
    this.#assets = ports.openAssets?.({
      entity: () => this.#entity.variable(),
      fill: (asset, build) => fillBuild(asset, build, this.#entity.current()),
      measured: (step, durationMs) => void metrics.observe(`asset_${step}_duration`, durationMs),
    });
    const { reaper, allowList = [] } = ports;
    this.#reaper = reaper;
    const runner = new CommandRunner({ clock, reaper, assets: this.#assets, allowList });
    this.#executor = new Executor(settings, {
      ...building,
      log,
      runner,
      deliver: (event) => intake.deliverInSlices(event),
    });
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
        proxies: ports.proxies,
      },
      {
        clock,
        log,
        random: () => ports.random(),
        metrics,
        queue: this.#queue,
        tlsOptions: () => tls.options(),
        sessionBegan: () => {
          this.#sequences.restart();
          this.#entity.resetConfig();
        },
        sessionReady: () => this.#posted.relay(),
        configReceived: (config) => this.#configReceived(config),
        checkRequested: (request) => this.#executor.accept(request),
        beginKeepalives: (send) => this.#keepalives.begin(send),
        endKeepalives: () => this.#keepalives.end(),
      },
    );
    const apiPorts = {
      clock,
      log,
      metrics,
      version,
      isConnected: () => this.#connection.isOpen,
      accept: (body: Buffer) => intake.accept([decodePostedEvent(body)]),
      acceptResults: async (body: Buffer) => intake.accept(resultsOf(body)),
      failed: (error: Error) => ports.failed(error, API_CRASHED),
    };
    const { api, sockets, statsd } = settings;
    const deliver = (event: Event): void => intake.deliver(event);
    this.#inputs = [
      ...(statsd.isEnabled
        ? [
            new StatsdListener(statsd, {
              ...building,
              log,
              deliver,
              invalid: () => metrics.count('statsd_invalid_lines'),
              dropped: (count) => metrics.count('statsd_dropped_datagrams', count),
            }),
          ]
        : []),
      ...(api.isEnabled ? [new ApiServer(api, apiPorts)] : []),
      ...(sockets.isEnabled
        ? [new Sockets(sockets, { clock, log, accept: (events) => intake.deliverAll(events) })]
        : []),
    ];
  }

  /** Rejects when an input that the agent cannot run without does not start. */
  async start(): Promise<void> {
    await this.#systemInfo.start();
    this.#assets?.start();
    for (const input of this.#inputs) await input.start();
    if (this.#stopped === undefined) this.#connection.start();
  }

  /** Waits a limited time for running checks and for the delivery of their results. A further call waits for the same stop. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop().finally(() => this.#reaper?.close());
    return this.#stopped;
  }

  /** Kills running checks, so that a stop does not wait for them. */
  abort(): void {
    this.#executor.abort();
  }

  async #stop(): Promise<void> {
    await Promise.all(this.#inputs.map((input) => input.stop()));
    this.#posted.stop();
    await this.#executor.stop(CHECK_GRACE_MS);
    this.#assets?.stop();
    await this.#delivered();
    await this.#connection.stop(this.#entity.current().deregister);
    this.#systemInfo.stop();
    await this.#closeQueue();
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

/** The results in a body that is JSON. @throws InvalidResource */
function resultsOf(body: Buffer): Event[] {
  const results = parseResults(body);
  if (results === undefined) throw new InvalidResource('the body must be a result or a list of results');
  return results;
}
