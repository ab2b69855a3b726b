import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hashSync } from '@node-rs/bcrypt';
import { PUBLISHED_MACHINES } from '../../src/actors/inspection/published-machines.ts';
import { ActorCounts } from '../../src/actors/inspection/actor-counts.ts';
import { NamespaceCounts } from '../../src/actors/inspection/namespace-counts.ts';
import { listActors } from '../../src/actors/inspection/actor-list.ts';
import type { ScheduleStatus } from '../../src/actors/schedules/schedule-status.ts';
import { dryRunPorts } from '../../src/main/serve/dry-run-ports.ts';
import { silencePorts } from '../../src/main/serve/silence-ports.ts';
import { runEnvironment } from '../../src/main/serve/run-environment.ts';
import { NO_SECRET_VALUES } from '../../src/pipeline/secrets.ts';
import { Explainer } from '../../src/explain/explainer.ts';
import { type Api, createApi } from '../../src/http/app.ts';
import { type Auth, createAuth } from '../../src/auth/auth.ts';
import type { BackendHealth } from '../../src/http/routes/backend-health.ts';
import { apiKeyWithDefaults } from '../../src/resources/api-key.ts';
import { roleBindingWithDefaults } from '../../src/resources/role-binding.ts';
import { roleWithDefaults } from '../../src/resources/role.ts';
import { userWithDefaults } from '../../src/resources/user.ts';
import { digestApiKey } from '../../src/store/api-key-digest.ts';
import { EntityStore } from '../../src/store/entity-store.ts';
import { IncidentStore } from '../../src/store/incident-store.ts';
import { EventStore } from '../../src/store/event-store.ts';
import { NotificationStore } from '../../src/store/notification-store.ts';
import { TickStore } from '../../src/store/tick-store.ts';
import { resourceKey } from '../../src/store/encoding/keyspace.ts';
import type { LedgerDraft } from '../../src/store/ledger/ledger.ts';
import type { Page, PageRequest } from '../../src/store/page.ts';
import { type Resources, ResourceStore } from '../../src/store/resource-store.ts';
import { RESTORE } from '../../src/actors/core/decider.ts';
import { ActorSystem } from '../../src/actors/system.ts';
import type { Commands } from '../../src/actors/administration/commands.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { RecordedLog } from '../support/recorded-log.ts';

export const ADMIN_PASSWORD = 'Adm1n-P@ss';
export const ADMIN_KEY = '83abef1e-e7d7-4beb-91fc-79ad90084d5b';
export const CLUSTER_UUID = '5b0f8a0e-6a44-4d3b-9d52-0c8f1f6f2a11';
export const REQUEST_LIMIT_BYTES = 512_000;
const LOWEST_BCRYPT_COST = 4;

const NO_ASSETS = { install: () => Promise.resolve([]) };
const NO_SANDBOX = Promise.resolve({
  error: 'there is no sandbox',
  passes: false,
  filter: '',
  failed: 'there is no sandbox',
} as const);

export interface Request {
  method?: string;
  /** The path is sent byte for byte. */
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
  /** The text replaces `body`. */
  text?: string;
}

export interface Reply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  /** Undefined when the body is not JSON. */
  body: unknown;
}

/** The REST API over a real socket, with the real commands over a store in memory and one administrator. */
export class ApiUnderTest {
  readonly clock = new ManualClock();
  readonly log = new RecordedLog();
  readonly commands: Commands;
  readonly api: Api;
  readonly auth: Auth;
  /** The names of the commands that were called. */
  readonly calls: (keyof Commands)[] = [];
  /** The next command rejects with this error instead of running. */
  failure: Error | undefined;
  /** The result of the store's probe. */
  healthy = true;
  /** The status of every schedule. */
  schedule: ScheduleStatus | undefined;
  /** The page of open connections that every request gets, and what the last request asked for. */
  sessions: Page<object> = { items: [], lastKey: undefined };
  sessionsAsked: { namespace: string | undefined; page: PageRequest } | undefined;
  handshakeRefusals: object[] = [];
  scrape = () => Promise.resolve({ type: 'text/plain; version=0.0.4; charset=utf-8', text: 'up 1\n' });
  backendHealth: BackendHealth = {
    startedAtMs: 1_000,
    ledgerSeq: 7,
    lag: { median: 0.001, p99: 0.002, max: 0.003 },
    blindMs: 1_500,
    refused: 0,
    quarantined: 0,
    openDecisions: { used: 1, limit: 2 },
    outbox: { used: 0, limit: undefined },
    deadLetters: { used: 0, limit: 10 },
    storeBytes: undefined,
    disk: undefined,
  };
  entityUse = { count: 0, limit: 0, full: 0 };
  /** The time limit of the last probe. */
  probedMs: number | undefined;
  token = '';
  readonly #store = new MemoryStore();
  readonly #system: ActorSystem;
  readonly #server: Server;

  private constructor() {
    const resources = new ResourceStore(this.#store);
    this.#system = new ActorSystem({ store: this.#store, clock: this.clock, log: this.log, backendName: 'backend' });
    this.commands = this.#recording(this.#system.commands);
    const tokenSecret = Buffer.alloc(32, 7);
    const { commands, clock, log } = this;
    this.auth = createAuth({ resources, commands, tokenSecret, clock, log });
    this.api = createApi({
      nextAttempt: () => undefined,
      auth: this.auth,
      commands: this.commands,
      resources,
      entities: new EntityStore(this.#store),
      events: new EventStore(this.#store),
      incidents: new IncidentStore(this.#store),
      ...silencePorts({}, this.#store, this.clock),
      notifications: new NotificationStore(this.#store),
      explainer: new Explainer({
        ledger: this.#store,
        records: this.#store,
        notifications: new NotificationStore(this.#store),
        ticks: new TickStore(this.#store),
        clock: this.clock,
      }),
      dryRuns: dryRunPorts(
        {},
        {
          store: this.#store,
          sandbox: { filter: () => NO_SANDBOX, mutate: () => NO_SANDBOX },
          environment: { ...runEnvironment(this.#store, NO_SECRET_VALUES, NO_ASSETS).environment },
          clock: this.clock,
          log: this.log,
        },
      ),
      ledger: (query) => this.#store.ledgerSlice(query),
      tokenSecret,
      ticks: new TickStore(this.#store),
      scheduleStatus: () => this.schedule,
      sessions: (namespace, page) => {
        this.sessionsAsked = { namespace, page };
        return this.sessions;
      },
      handshakeRefusals: () => this.handshakeRefusals,
      rings: () => new Map(),
      machines: PUBLISHED_MACHINES,
      actors: (filter, page) => listActors(this.#store, filter, page),
      actor: (address) => this.#system.details.of(address),
      actorCounts: () => new ActorCounts(this.#store).count(() => false),
      namespaceCounts: () => new NamespaceCounts(this.#store, resources).count(() => false),
      entityDeadlineAtMs: (namespace, name) =>
        this.#system.details.deadlineAtMs({ actor: 'entity', key: `${namespace}/${name}` }),
      ledgerOfKey: (query) => this.#store.ledgerSliceOfKey(query),
      metrics: () => this.scrape(),
      aggregates: this.#system.aggregates,
      eventMetrics: this.#system.eventMetrics,
      backendHealth: () => this.backendHealth,
      probe: (timeoutMs) => {
        this.probedMs = timeoutMs;
        return Promise.resolve(this.healthy);
      },
      entityUse: () => this.entityUse,
      memberId: 26,
      clusterId: 1,
      clusterUuid: CLUSTER_UUID,
      clock: this.clock,
      log: this.log,
      version: '0.1.0',
      requestLimitBytes: REQUEST_LIMIT_BYTES,
    });
    this.#system.listen({
      announced: ({ type }) => {
        if (type === 'rbac.changed') this.auth.access.rbacChanged();
      },
    });
    this.#server = createServer(this.api.callback);
  }

  static async start(): Promise<ApiUnderTest> {
    const api = new ApiUnderTest();
    await api.#createInitialResources();
    await new Promise<void>((resolve) => api.#server.listen(0, '127.0.0.1', resolve));
    api.token = await api.login('admin', ADMIN_PASSWORD);
    return api;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    await this.#system.stop();
  }

  /** Number of completed writes of the store. */
  get writes(): number {
    return this.#store.writes;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Authenticates as the administrator, unless `headers` name another user. Empty headers are not sent. */
  send({ method = 'GET', path, headers = {}, body, text }: Request): Promise<Reply> {
    const payload = text ?? (body === undefined ? undefined : JSON.stringify(body));
    const given: Record<string, string> = { authorization: `Bearer ${this.token}`, ...headers };
    const sent = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''));
    return new Promise((resolve, reject) => {
      const request = httpRequest({ port: this.port, host: '127.0.0.1', method, path, headers: sent }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const answer = Buffer.concat(chunks).toString();
          const { statusCode = 0 } = response;
          resolve({ status: statusCode, headers: response.headers, text: answer, body: jsonOf(answer) });
        });
      });
      request.on('error', reject);
      request.end(payload);
    });
  }

  async get(path: string): Promise<Reply> {
    return this.send({ path });
  }

  async login(username: string, password: string): Promise<string> {
    const { body } = await this.send({ path: '/auth', headers: { authorization: basic(username, password) } });
    return (body as { access_token: string }).access_token;
  }

  /** Stores a resource without validating it. */
  async put<K extends keyof Resources>(kind: K, namespace: string | undefined, name: string, value: Resources[K]) {
    await this.#system.decider.decide(RESTORE, (ctx) => {
      ctx.decision.put('resources', resourceKey(kind, namespace, name), value);
      ctx.announce({ type: 'rbac.changed' });
    }).durable;
  }

  /** Creates a user whose password is the user name, binds it to a cluster role with these rules and returns its token. */
  async userWith(username: string, rules: Parameters<typeof roleWithDefaults>[0]['rules']): Promise<string> {
    await this.putUser(username, {});
    const metadata = { name: username };
    await this.put('clusterroles', undefined, username, roleWithDefaults({ metadata, rules: rules ?? [] }));
    await this.put(
      'clusterrolebindings',
      undefined,
      username,
      roleBindingWithDefaults({
        metadata,
        subjects: [{ type: 'User', name: username }],
        role_ref: { type: 'ClusterRole', name: username },
      }),
    );
    return this.login(username, username);
  }

  async putUser(username: string, change: { password?: string; groups?: string[]; disabled?: boolean }) {
    const { password = username, ...rest } = change;
    const hashed = hashSync(password, { cost: LOWEST_BCRYPT_COST });
    await this.put('users', undefined, username, userWithDefaults({ username, password_hash: hashed, ...rest }));
  }

  async writeLedger(drafts: LedgerDraft[]): Promise<void> {
    await this.#system.decider.decide(RESTORE, ({ decision }) => {
      decision.ledger.push(...drafts);
    }).durable;
  }

  /** Wraps the commands: each call is recorded before it runs. */
  #recording(commands: Commands): Commands {
    return new Proxy(commands, {
      get:
        (target, name: keyof Commands) =>
        async (...input: unknown[]): Promise<unknown> => {
          this.calls.push(name);
          const { failure } = this;
          this.failure = undefined;
          if (failure !== undefined) throw failure;
          return (await Reflect.apply(target[name], undefined, input)) as unknown;
        },
    });
  }

  async #createInitialResources(): Promise<void> {
    const everything = [{ verbs: ['*'], resources: ['*'] }];
    const metadata = { name: 'cluster-admin' };
    await this.put('namespaces', undefined, 'default', { name: 'default' });
    await this.putUser('admin', { password: ADMIN_PASSWORD, groups: ['cluster-admins'] });
    await this.put('clusterroles', undefined, metadata.name, roleWithDefaults({ metadata, rules: everything }));
    await this.put(
      'clusterrolebindings',
      undefined,
      metadata.name,
      roleBindingWithDefaults({
        metadata,
        subjects: [{ type: 'Group', name: 'cluster-admins' }],
        role_ref: { type: 'ClusterRole', name: 'cluster-admin' },
      }),
    );
    const { name, hash } = digestApiKey(ADMIN_KEY);
    const key = { metadata: { name }, username: 'admin', hash };
    await this.put('apikeys', undefined, name, apiKeyWithDefaults(key));
  }
}

export const basic = (username: string, password: string): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
