import { inspect } from 'node:util';

/** Long enough for a machine that runs other work at the same time. */
export const PATIENCE_MS = 15_000;

/** A condition was not met in time. */
export class TimedOut extends Error {}

export interface WaitOptions {
  /** Name of the condition for the error message. */
  what?: string;
  withinMs?: number;
  everyMs?: number;
}

/**
 * Calls `read` until `holds` accepts its value, and returns that value. The default accepts any truthy value.
 * @throws TimedOut with the last value when the time is over
 */
export async function eventually<T>(
  read: () => T | Promise<T>,
  holds: (value: T) => boolean = Boolean,
  { what = 'the condition', withinMs = PATIENCE_MS, everyMs = 10 }: WaitOptions = {},
): Promise<T> {
  const untilMs = performance.now() + withinMs;
  for (;;) {
    const value = await read();
    if (holds(value)) return value;
    if (performance.now() >= untilMs) {
      throw new TimedOut(`timed out after ${withinMs} ms: ${what}; last value: ${inspect(value, { depth: 6 })}`);
    }
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

/** Returns the result of `promise`. @throws TimedOut unless it settles within `withinMs` */
export async function inTime<T>(promise: Promise<T>, what: string, withinMs = PATIENCE_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new TimedOut(`timed out after ${withinMs} ms: ${what}`));
    }, withinMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
