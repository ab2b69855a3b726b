import type { Clock } from '../../ports/clock.ts';

/** One write answers all requests within this time, because any client may request a probe and each write waits for the disk. */
const VALID_MS = 1_000;

/** Returns a function that resolves to whether a record could be written within the given time. */
export function writeProbe(system: { probe(): Promise<void> }, clock: Clock): (timeoutMs: number) => Promise<boolean> {
  let asked: { atMs: number; written: Promise<boolean> } | undefined;
  const write = (): Promise<boolean> =>
    system.probe().then(
      () => true,
      () => false,
    );
  return async (timeoutMs) => {
    const nowMs = clock.monotonicMs();
    if (asked === undefined || nowMs - asked.atMs >= VALID_MS) asked = { atMs: nowMs, written: write() };
    let cancel = (): void => undefined;
    const late = new Promise<boolean>((resolve) => {
      cancel = clock.after(timeoutMs, () => {
        resolve(false);
      });
    });
    const healthy = await Promise.race([asked.written, late]);
    cancel();
    return healthy;
  };
}
