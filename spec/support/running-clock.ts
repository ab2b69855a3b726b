import { systemClock } from '../../src/main/process/system-clock.ts';
import { ManualClock } from './manual-clock.ts';

/** Time that passes by itself, for an in-process backend whose clients live in real time, such as browsers. */
export class RunningClock extends ManualClock {
  override nowMs(): number {
    return systemClock.nowMs();
  }

  override monotonicMs(): number {
    return systemClock.monotonicMs();
  }

  override uptimeMs(): number {
    return systemClock.uptimeMs();
  }

  override after(delayMs: number, fire: () => void): () => void {
    return systemClock.after(delayMs, fire);
  }
}
