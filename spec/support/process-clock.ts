import type { Clock } from '../../src/ports/clock.ts';

/** A clock whose alarms are cancelled when their process ends. */
export class ProcessClock implements Clock {
  readonly #clock: Clock;
  readonly #alarms = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  nowMs = (): number => this.#clock.nowMs();
  monotonicMs = (): number => this.#clock.monotonicMs();
  uptimeMs = (): number => this.#clock.uptimeMs();

  after(delayMs: number, fire: () => void): () => void {
    const cancel = this.#clock.after(delayMs, () => {
      this.#alarms.delete(cancel);
      fire();
    });
    this.#alarms.add(cancel);
    return () => {
      this.#alarms.delete(cancel);
      cancel();
    };
  }

  stop(): void {
    for (const cancel of this.#alarms) cancel();
    this.#alarms.clear();
  }
}
