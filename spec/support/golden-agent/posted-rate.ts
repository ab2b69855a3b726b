import { setTimeout as wait } from 'node:timers/promises';
import type { ManualClock } from '../manual-clock.ts';
import { http } from './local-clients.ts';
import { checkOf, type PlayedBackend } from './played-backend.ts';

/** The steps in which time passes. */
const STEP_MS = 50;
/** Events that the agent has sent arrive within this real time, or within the next one. */
const ARRIVAL_MS = 25;

export interface PostsStep {
  readonly count: number;
  readonly prefix: string;
  readonly within_ms: number;
  readonly between_ms: readonly [number, number];
  readonly ours_between_ms?: readonly [number, number];
}

interface Parts {
  readonly apiPort: number;
  readonly backend: PlayedBackend;
  /** The clock of the agent: the rate does not depend on the speed of the machine. */
  readonly clock: ManualClock;
}

/** Posts events at once and measures the time from the first to the last one that the backend receives. @throws Error for another rate */
export async function postAtOnce(step: PostsStep, { apiPort, backend, clock }: Parts): Promise<object> {
  const { count, prefix, within_ms: withinMs } = step;
  const [least, most] = step.ours_between_ms ?? step.between_ms;
  const answers = await Promise.all(
    Array.from({ length: count }, (_, n) =>
      http(apiPort, 'POST', '/events', { check: { metadata: { name: `${prefix}${n}` } } }),
    ),
  );
  const arrivedMs = new Map<string, number>();
  const take = (): number => {
    for (const frame of backend.frames) {
      const name = checkOf(frame);
      if (!name.startsWith(prefix) || arrivedMs.has(name)) continue;
      arrivedMs.set(name, clock.monotonicMs());
      frame.isTaken = true;
    }
    return arrivedMs.size;
  };
  for (const endMs = clock.monotonicMs() + withinMs; clock.monotonicMs() < endMs; await clock.advance(STEP_MS)) {
    for (let before = -1; before < arrivedMs.size; await wait(ARRIVAL_MS)) {
      before = arrivedMs.size;
      take();
    }
    if (arrivedMs.size >= count) break;
  }
  const spreadMs = Math.max(...arrivedMs.values()) - Math.min(...arrivedMs.values());
  if (arrivedMs.size < count || spreadMs < least || spreadMs > most) {
    throw new Error(`${arrivedMs.size} of ${count} events arrived within ${spreadMs} ms, expected ${least} to ${most}`);
  }
  return { accepted: answers.filter(({ status }) => status === 202).length };
}
