import { join } from 'node:path';
import type { ApiClient } from './api-client.ts';
import { BackendProcess, initialiseState } from './backend-process.ts';
import { type TemporaryDirectory, temporaryDirectory } from './temporary-directory.ts';

/** The real backend program on one state directory, on which a test can kill it and start it again. */
export class RestartableProcess {
  readonly #directory: TemporaryDirectory;
  #last: { backend: BackendProcess; api: ApiClient } | undefined;

  private constructor(directory: TemporaryDirectory) {
    this.#directory = directory;
  }

  /** Initialises a new state directory and starts the program on it. */
  static async start(args: readonly string[] = []): Promise<RestartableProcess> {
    const program = new RestartableProcess(await temporaryDirectory());
    try {
      await initialiseState(program.stateDir);
      await program.resume(args);
      return program;
    } catch (error) {
      await program.stop();
      throw error;
    }
  }

  /** The last process that was started. */
  get backend(): BackendProcess {
    return this.#current.backend;
  }

  /** A client of the last process, logged in as the administrator. Its requests fail once the process is killed. */
  get api(): ApiClient {
    return this.#current.api;
  }

  get #current(): { backend: BackendProcess; api: ApiClient } {
    if (this.#last === undefined) throw new Error('the program was never started');
    return this.#last;
  }

  get stateDir(): string {
    return this.path('state');
  }

  /** Returns the path of a file beside the state directory. */
  path(name: string): string {
    return join(this.#directory.path, name);
  }

  /** Sends SIGKILL. The state directory stays. */
  async kill(): Promise<void> {
    await this.backend.kill();
    await this.backend.remove();
  }

  /** Starts the program on its state directory, after `kill`. */
  async resume(args: readonly string[] = []): Promise<void> {
    const backend = await BackendProcess.start({ stateDir: this.stateDir, args });
    this.#last = { backend, api: await backend.login() };
  }

  /** Stops the program and removes its state directory. */
  async stop(): Promise<void> {
    try {
      await this.#last?.backend.stop();
    } finally {
      await this.#directory.remove();
    }
  }
}
