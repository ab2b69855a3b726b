import type { Host } from './host.ts';
import { systemClock } from './system-clock.ts';

/**
 * Signals this soon after the first belong to the same request: `timeout` and npm forward the signal that the terminal
 * or the supervisor also sends to the whole process group.
 */
const SAME_REQUEST_MS = 1_000;

export const STOP_SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM'];

interface Options {
  signals?: readonly NodeJS.Signals[];
  /** Installs a handler of a signal; in this process by default. */
  on?: Host['on'];
}

/** Calls `first` at the first stop signal, and `again` at each later signal that is a separate request. */
export function onStopSignal(
  { first, again }: { first: (signal: NodeJS.Signals) => void; again: (signal: NodeJS.Signals) => void },
  { signals = STOP_SIGNALS, on = (signal, handle) => void process.on(signal, handle) }: Options = {},
): void {
  let firstMs: number | undefined;
  const receive = (signal: NodeJS.Signals): void => {
    const nowMs = systemClock.monotonicMs();
    if (firstMs === undefined) {
      firstMs = nowMs;
      first(signal);
    } else if (nowMs - firstMs > SAME_REQUEST_MS) {
      again(signal);
    }
  };
  for (const signal of signals) on(signal, receive);
}

/** From this call on, the first stop signal aborts the returned signal with `reason`, and a second one ends the program. */
export function abortedByStopSignal(reason: Error, host: Pick<Host, 'exit' | 'on'>): AbortSignal {
  const controller = new AbortController();
  onStopSignal({ first: () => controller.abort(reason), again: () => host.exit(1) }, { on: host.on });
  return controller.signal;
}
