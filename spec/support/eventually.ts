import { inspect } from 'node:util';

/** A condition that did not come true in time. */
export class TimedOut extends Error {}

export interface Patience {
  /** Named in the error. */
  what?: string;
  withinMs?: number;
  everyMs?: number;
}

/**
 * Asks until `holds` is true of the answer, and returns that answer; without `holds`, until the answer is truthy.
 * @throws TimedOut with the last answer (or the last error) when the time is over
 */
export async function eventually<T>(
  ask: () => T | Promise<T>,
  holds: (answer: T) => boolean = Boolean,
  { what = 'the condition', withinMs = 5_000, everyMs = 10 }: Patience = {},
): Promise<T> {
  const untilMs = performance.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (holds(answer)) return answer;
    if (performance.now() >= untilMs) {
      throw new TimedOut(`${what} did not come true within ${withinMs} ms; last: ${inspect(answer, { depth: 6 })}`);
    }
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

/** Rejects with `TimedOut` unless `promise` settles within `withinMs`. */
export async function inTime<T>(promise: Promise<T>, what: string, withinMs = 5_000): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new TimedOut(`${what} did not come within ${withinMs} ms`));
    }, withinMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
