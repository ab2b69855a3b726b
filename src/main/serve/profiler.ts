import { chmodSync, rmSync } from 'node:fs';
import { Session } from 'node:inspector';
import { writeHeapSnapshot } from 'node:v8';
import type { Clock } from '../../ports/clock.ts';

/** A profile is already being recorded. */
export class ProfilerBusy extends Error {}

const OWNER_ONLY = 0o600;

const RECORDINGS = {
  /** Where the time of the main thread goes. */
  cpu: { domain: 'Profiler', start: 'Profiler.start', stop: 'Profiler.stop' },
  /** Where memory is allocated that stays in use. It has names of functions, and no values. */
  heap: { domain: 'HeapProfiler', start: 'HeapProfiler.startSampling', stop: 'HeapProfiler.stopSampling' },
} as const;

/** Records profiles of this process, one at a time, in the formats that the tools of Chromium read. */
export class Profiler {
  readonly #clock: Clock;
  #isBusy = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Records until the time is over or `signal` aborts. @throws ProfilerBusy */
  async record(kind: keyof typeof RECORDINGS, durationMs: number, signal: AbortSignal): Promise<string> {
    const { domain, start, stop } = RECORDINGS[kind];
    const session = new Session();
    const call = (method: string): Promise<object> =>
      new Promise((resolve, reject) => {
        session.post(method, (error, result) => {
          if (error === null) resolve(result ?? {});
          else reject(error);
        });
      });
    return this.#alone(async () => {
      session.connect();
      try {
        await call(`${domain}.enable`);
        await call(start);
        await this.#wait(durationMs, signal);
        const { profile } = (await call(stop)) as { profile: object };
        return JSON.stringify(profile);
      } finally {
        session.disconnect();
      }
    });
  }

  /** Writes all objects in memory, secrets included, to a file that only its owner can read. Blocks the process for seconds. @throws ProfilerBusy */
  snapshot(file: string): Promise<void> {
    return this.#alone(() => {
      rmSync(file, { force: true });
      const previous = process.umask(0o077);
      try {
        writeHeapSnapshot(file);
      } finally {
        process.umask(previous);
      }
      chmodSync(file, OWNER_ONLY);
      return Promise.resolve();
    });
  }

  async #alone<T>(run: () => Promise<T>): Promise<T> {
    if (this.#isBusy) throw new ProfilerBusy('a profile is already being recorded; try again when it is finished');
    this.#isBusy = true;
    try {
      return await run();
    } finally {
      this.#isBusy = false;
    }
  }

  #wait(durationMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#clock.after(durationMs, resolve);
      const abort = (): void => {
        cancel();
        resolve();
      };
      if (signal.aborted) abort();
      else signal.addEventListener('abort', abort);
    });
  }
}
