import { join } from 'node:path';
import { MACHINES, type Machines } from '../../src/actors/core/machines.ts';
import type { MemorySource } from '../../src/actors/supervision/memory-guard.ts';
import type { VerifyHash } from '../../src/auth/credentials.ts';
import type { BackendConfig } from '../../src/config/backend.ts';
import { storeDirectory } from '../../src/main/process/directories.ts';
import { type RunningBackend, startBackend } from '../../src/main/start-backend.ts';
import type { SecretValues } from '../../src/pipeline/secrets.ts';
import type { ConfigurationKinds } from '../../src/resources/configuration-kinds.ts';
import type { System } from '../../src/resources/entity.ts';
import { LmdbStore } from '../../src/store/lmdb/lmdb-store.ts';
import type { TransactionalStore } from '../../src/store/commit/transactional-store.ts';
import type { AgentClient, AgentOptions } from './agent-client.ts';
import type { ApiClient } from './api-client.ts';
import { BackendClients, type BackendPorts } from './backend-clients.ts';
import { FailingStore } from './failing-store.ts';
import { ManualClock } from './manual-clock.ts';
import { RecordedLog } from './recorded-log.ts';
import { type TemporaryDirectory, temporaryDirectory } from './temporary-directory.ts';
import { BCRYPT_COST, initialiseForTests } from './initialised-store.ts';

const AGENT_MESSAGE_LIMIT_BYTES = 10 * 1024 * 1024;
const API_REQUEST_LIMIT_BYTES = 512_000;
const WRITE_TIMEOUT_MS = 15_000;

/** The configuration of a backend of the tests, with free ports and its state in `directory`. */
export function configOf(directory: string): BackendConfig {
  const host = '127.0.0.1';
  return {
    stateDir: join(directory, 'state'),
    cacheDir: join(directory, 'cache'),
    logLevel: 'info',
    api: { host, port: 0, requestLimitBytes: API_REQUEST_LIMIT_BYTES, writeTimeoutMs: WRITE_TIMEOUT_MS },
    agent: { host, port: 0, writeTimeoutMs: WRITE_TIMEOUT_MS, maxMessageBytes: AGENT_MESSAGE_LIMIT_BYTES },
    dashboard: { host, port: 0, writeTimeoutMs: WRITE_TIMEOUT_MS },
    earlierApi: {
      listen: { host, port: 0 },
      onDashboard: true,
      requestLimitBytes: API_REQUEST_LIMIT_BYTES,
      pair: undefined,
      allowsAnonymous: false,
      corsHeaders: {},
      datacenters: {},
    },
    storeSync: 'full',
  };
}

export interface InProcessOptions {
  clock?: ManualClock;
  /** Changes the default configuration. */
  configure?: (config: BackendConfig) => BackendConfig;
  /** Replaces the default kinds. */
  configurationKinds?: ConfigurationKinds;
  /** Replaces the system information of the backend's own entity. */
  machine?: System;
  /** Replaces the default machines until the backend is halted. */
  machines?: Machines;
  /** The values of the provider `env` of secrets, by variable. */
  secrets?: Readonly<Record<string, string>>;
  /** The memory that the backend watches; none by default. */
  memory?: MemorySource;
  /** Replaces bcrypt, which takes 60 ms for each wrong password. */
  verifyHash?: VerifyHash;
  /** Wraps the store of the backend. */
  through?: (store: TransactionalStore) => TransactionalStore;
}

const secretValuesOf = (values: Readonly<Record<string, string>>): SecretValues => ({
  of: (id) => values[id],
  allows: (id) => !id.startsWith('FORBIDDEN'),
});

/** A backend in the process of the test, with real sockets, a real store and a manual clock. */
export class InProcessBackend implements BackendPorts {
  readonly clock: ManualClock;
  readonly log = new RecordedLog();
  readonly #directory: TemporaryDirectory;
  readonly #config: BackendConfig;
  readonly #options: InProcessOptions;
  readonly #clients = new BackendClients(this);
  #store: FailingStore | undefined;
  #running: RunningBackend | undefined;

  protected constructor(directory: TemporaryDirectory, options: InProcessOptions) {
    const { clock = new ManualClock(), configure } = options;
    this.#directory = directory;
    this.#options = options;
    this.clock = clock;
    const config = configOf(directory.path);
    this.#config = configure?.(config) ?? config;
    clock.untilIdle = () => this.#store?.settled() ?? Promise.resolve();
  }

  /** Starts a backend on a new store with the administrator of the tests. */
  static async start(options: InProcessOptions = {}): Promise<InProcessBackend> {
    const backend = new InProcessBackend(await temporaryDirectory(), options);
    await backend.begin();
    return backend;
  }

  protected async begin(): Promise<void> {
    try {
      await initialiseForTests(this.stateDir, this.clock);
      await this.resume(this.#options.machines);
    } catch (error) {
      await this.#directory.remove();
      throw error;
    }
  }

  /** Starts the backend on its existing state, at other ports. */
  async resume(machines: Machines = MACHINES): Promise<void> {
    const { configurationKinds, machine, secrets, memory, verifyHash, through = (store) => store } = this.#options;
    this.#running = await startBackend(this.#config, {
      clock: this.clock,
      log: this.log,
      configurationKinds,
      machine,
      machines,
      memory,
      verifyHash,
      bcryptCost: BCRYPT_COST,
      secretValues: secrets && secretValuesOf(secrets),
      openStore: (options) => {
        this.#store = new FailingStore(through(new LmdbStore(options)));
        return this.#store;
      },
    });
  }

  /** Stops the backend until `resume`, and disconnects all clients. */
  async halt(): Promise<void> {
    this.#clients.drop();
    this.#store?.heal();
    const running = this.#running;
    this.#running = undefined;
    await running?.stop();
    this.#store = undefined;
  }

  async restart(): Promise<void> {
    await this.halt();
    await this.resume();
  }

  /** Stops the backend and removes its state. */
  async stop(): Promise<void> {
    try {
      await this.halt();
    } finally {
      await this.#directory.remove();
    }
  }

  /** Opens the store for `use` while the backend is down. */
  async withStore<T>(use: (store: LmdbStore) => T | Promise<T>): Promise<T> {
    const store = new LmdbStore({ directory: storeDirectory(this.stateDir), sync: 'full' });
    try {
      return await use(store);
    } finally {
      await store.close();
    }
  }

  get stateDir(): string {
    return this.#config.stateDir;
  }

  get store(): FailingStore {
    if (this.#store === undefined) throw new Error('the backend is down');
    return this.#store;
  }

  get nowS(): number {
    return Math.floor(this.clock.nowMs() / 1_000);
  }

  get apiPort(): number {
    return this.#running?.apiPort ?? 0;
  }

  /** The port of the API of the first generation. */
  get earlierApiPort(): number {
    return this.#running?.earlierApiPort ?? 0;
  }

  get dashboardPort(): number {
    return this.#running?.dashboardPort ?? 0;
  }

  get agentPort(): number {
    return this.#running?.agentPort ?? 0;
  }

  /** Logs in as the administrator. The client is closed with the backend. */
  login(): Promise<ApiClient> {
    return this.#clients.login();
  }

  /** Connects an agent. It is disconnected with the backend. @throws HandshakeRefused */
  connect(options: AgentOptions): Promise<AgentClient> {
    return this.#clients.connect(options);
  }

  /** Connects an agent and takes its first frame. @throws HandshakeRefused */
  async connected(options: AgentOptions): Promise<AgentClient> {
    const agent = await this.#clients.connect(options);
    await agent.next('entity_config');
    return agent;
  }

  /** Reloads the certificates, as SIGHUP does. */
  async reloadCertificates(): Promise<void> {
    await this.#running?.reloadCertificates();
  }
}
