import type { Clock } from '../../ports/clock.ts';

/** One write answers everybody who asks within this time: anybody may ask, and each write waits for the disk. */
const VALID_MS = 1_000;

/** Tells whether something could be written within the time that is given. */
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
