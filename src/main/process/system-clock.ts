import { uptime } from 'node:os';
import type { Clock } from '../../ports/clock.ts';

/** The longest delay of `setTimeout`; a longer one fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The clock of the machine. It splits long delays into steps of at most 24.8 days. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  uptimeMs: () => uptime() * 1_000,
  after(delayMs, fire) {
    const dueMs = performance.now() + delayMs;
    let timer: NodeJS.Timeout;
    const arm = (): void => {
      const leftMs = dueMs - performance.now();
      timer = leftMs > MAX_TIMER_MS ? setTimeout(arm, MAX_TIMER_MS) : setTimeout(fireOnce, Math.max(0, leftMs));
    };
    const fireOnce = (): void => {
      // Node's timers may run up to a millisecond early.
      if (performance.now() < dueMs) arm();
      else fire();
    };
    arm();
    return () => {
      clearTimeout(timer);
    };
  },
};
