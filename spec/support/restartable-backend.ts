import type { Machines } from '../../src/actors/core/machines.ts';
import type { AgentClient, AgentOptions } from './agent-client.ts';
import { InProcessBackend, type InProcessOptions } from './in-process-backend.ts';
import { ManualClock } from './manual-clock.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** 2023-11-14T22:13:20Z, the time of the test vectors in spec/04 1.3. */
export const START_MS = 1_700_000_000_000;

/** An in-process backend that can be down while time passes. After a start, the work that was due has been done. */
export class RestartableBackend extends InProcessBackend {
  static override async start(options: Omit<InProcessOptions, 'clock'> = {}): Promise<RestartableBackend> {
    const clock = new ManualClock(START_MS);
    const backend = new RestartableBackend(await temporaryDirectory(), { ...options, clock });
    await backend.begin();
    return backend;
  }

  override async resume(machines?: Machines): Promise<void> {
    await super.resume(machines);
    await this.clock.settle();
  }

  /** Stops the backend, lets `ms` pass and starts it again. */
  async downFor(ms: number): Promise<void> {
    await this.halt();
    await this.clock.advance(ms);
    await this.resume();
  }

  /** Connects an agent and takes its first frame. @throws HandshakeRefused */
  override connect(options: AgentOptions): Promise<AgentClient> {
    return this.connected(options);
  }
}
