import type { Console } from './init/questions.ts';
import type { Host } from './process/host.ts';
import type { readMachine } from './process/machine.ts';
import type { startBackend } from './start-backend.ts';

/** The parts of the host that only `start` needs. */
export interface StartModules {
  startBackend: typeof startBackend;
  readMachine: typeof readMachine;
}

/** The parts of its process that the backend uses. */
export interface BackendHost extends Host {
  /** The terminal of the operator, or what stands in for one. */
  readonly console: Console;
  /** Loads the whole backend, which takes time that the other commands do not need. */
  load(): Promise<StartModules>;
  printError(text: string): void;
  /** Gives other processes of the machine priority from now on. @throws Error of the system */
  yieldProcessor(): void;
}
