import { systemClock } from '../../src/main/process/system-clock.ts';
import { type RunningBackend, startBackend } from '../../src/main/start-backend.ts';
import type { ApiClient } from './api-client.ts';
import { BackendClients, type BackendPorts } from './backend-clients.ts';
import { configOf } from './in-process-backend.ts';
import { ProcessClock } from './process-clock.ts';
import { RecordedLog } from './recorded-log.ts';
import { type TemporaryDirectory, temporaryDirectory } from './temporary-directory.ts';
import { BCRYPT_COST, initialiseForTests } from './initialised-store.ts';

/** A backend in the process of the test, with the clock of the machine, for recordings that wait in real time. */
export class RealTimeBackend implements BackendPorts {
  readonly #directory: TemporaryDirectory;
  readonly #clock: ProcessClock;
  readonly #running: RunningBackend;
  readonly #clients = new BackendClients(this);

  private constructor(directory: TemporaryDirectory, clock: ProcessClock, running: RunningBackend) {
    this.#directory = directory;
    this.#clock = clock;
    this.#running = running;
  }

  static async start(): Promise<RealTimeBackend> {
    const directory = await temporaryDirectory();
    const clock = new ProcessClock(systemClock);
    const config = configOf(directory.path);
    try {
      await initialiseForTests(config.stateDir, clock);
      const running = await startBackend(config, { clock, log: new RecordedLog(), bcryptCost: BCRYPT_COST });
      return new RealTimeBackend(directory, clock, running);
    } catch (error) {
      clock.stop();
      await directory.remove();
      throw error;
    }
  }

  get apiPort(): number {
    return this.#running.apiPort;
  }

  get agentPort(): number {
    return this.#running.agentPort;
  }

  /** Logs in as the administrator. The client is closed with the backend. */
  login(): Promise<ApiClient> {
    return this.#clients.login();
  }

  /** Stops the backend and removes its state. */
  async stop(): Promise<void> {
    this.#clients.drop();
    try {
      await this.#running.stop();
    } finally {
      this.#clock.stop();
      await this.#directory.remove();
    }
  }
}
