import { join } from 'node:path';
import { type Machines, MACHINES } from '../../src/actors/machines.ts';
import type { BackendConfig } from '../../src/config/backend.ts';
import { storeDirectory } from '../../src/main/directories.ts';
import { initialise } from '../../src/main/initialise.ts';
import { type RunningBackend, startBackend } from '../../src/main/start-backend.ts';
import { LmdbStore } from '../../src/store/lmdb-store.ts';
import { type AgentClient, type AgentOptions } from './agent-client.ts';
import { ADMIN, type ApiClient } from './api-client.ts';
import { BackendClients, type BackendPorts } from './backend-clients.ts';
import { FailingStore } from './failing-store.ts';
import { ManualClock } from './manual-clock.ts';
import { RecordedLog } from './recorded-log.ts';
import { type TemporaryDirectory, temporaryDirectory } from './temporary-directory.ts';

/** 2023-11-14T22:13:20Z, the moment of the vectors in spec/04 1.3. */
export const START_MS = 1_700_000_000_000;

function configOf(stateDir: string, cacheDir: string): BackendConfig {
  const listen = { host: '127.0.0.1', port: 0 };
  return {
    stateDir,
    cacheDir,
    logLevel: 'info',
    api: { ...listen, requestLimitBytes: 512_000, writeTimeoutMs: 15_000 },
    agent: { ...listen, writeTimeoutMs: 15_000, maxMessageBytes: 10 * 1024 * 1024 },
    dashboard: listen,
    storeSync: 'full',
  };
}

export interface RestartableOptions {
  machines?: Machines;
  /** Changes the usual configuration. */
  configure?: (config: BackendConfig) => BackendConfig;
}

/** A backend in this process that can be down for a while: time passes, and its store can be read and changed meanwhile. */
export class RestartableBackend implements BackendPorts {
  readonly clock = new ManualClock(START_MS);
  readonly log = new RecordedLog();
  readonly #directory: TemporaryDirectory;
  readonly #config: BackendConfig;
  readonly #clients = new BackendClients(this);
  #store: FailingStore | undefined;
  #running: RunningBackend | undefined;

  private constructor(directory: TemporaryDirectory, configure: RestartableOptions['configure']) {
    this.#directory = directory;
    const config = configOf(join(directory.path, 'state'), join(directory.path, 'cache'));
    this.#config = configure?.(config) ?? config;
    this.clock.whenQuiet = () => this.#store?.settled() ?? Promise.resolve();
  }

  /** On a fresh store with the administrator of the tests. */
  static async start({ machines, configure }: RestartableOptions = {}): Promise<RestartableBackend> {
    const backend = new RestartableBackend(await temporaryDirectory(), configure);
    await initialise(backend.stateDir, ADMIN, backend.clock);
    await backend.resume(machines);
    return backend;
  }

  /** Starts on the state that is there. */
  async resume(machines: Machines = MACHINES): Promise<void> {
    const { clock, log } = this;
    this.#running = await startBackend(this.#config, {
      clock,
      log,
      machines,
      openStore: (options) => {
        this.#store = new FailingStore(new LmdbStore(options));
        return this.#store;
      },
    });
    await clock.settle();
  }

  /** Down until `resume`; agents and clients are gone. */
  async halt(): Promise<void> {
    this.#clients.drop();
    const running = this.#running;
    this.#running = undefined;
    this.#store?.heal();
    await running?.stop();
    this.#store = undefined;
  }

  async downFor(ms: number): Promise<void> {
    await this.halt();
    await this.clock.advance(ms);
    await this.resume();
  }

  /** Removes its state as well. */
  async stop(): Promise<void> {
    try {
      await this.halt();
    } finally {
      await this.#directory.remove();
    }
  }

  /** Its store while it is down. */
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

  get agentPort(): number {
    return this.#running?.agentPort ?? 0;
  }

  /** The administrator; gone with the backend. */
  login(): Promise<ApiClient> {
    return this.#clients.login();
  }

  /** A connected agent that has its first frame; gone with the backend. @throws HandshakeRefused */
  async connect(options: AgentOptions): Promise<AgentClient> {
    const agent = await this.#clients.connect(options);
    await agent.next('entity_config');
    return agent;
  }
}
