import { setImmediate as nextTick } from 'node:timers/promises';

/** Steps are taken for this time before others get the event loop. */
const SLICE_MS = 10;

/** Runs a generator to its end, and yields to other work between its steps. Returns its result. */
export async function inSlices<T>(steps: Iterator<unknown, T>): Promise<T> {
  let sliceEndMs = performance.now() + SLICE_MS;
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (performance.now() < sliceEndMs) continue;
    await nextTick();
    sliceEndMs = performance.now() + SLICE_MS;
  }
}

/** Takes all steps of a generator at once. Returns its result. */
export function atOnce<T>(steps: Iterator<unknown, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
