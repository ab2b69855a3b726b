import { createHash } from 'node:crypto';
import { type Check } from '../../resources/check.ts';
import { parseCron } from '../../resources/cron-expression.ts';
import { nextDueMs } from '../../rules/cron-times.ts';
import { firstTickAtMs } from '../../rules/splay.ts';

/** When the next time of a cron check is nearer than this, its proxy requests are spread over the interval after it. */
const MIN_SPREAD_MS = 5_000;

type Timed = Pick<Check, 'interval' | 'cron'>;

const md5 = (text: string): Uint8Array => createHash('md5').update(text).digest();

/** Returns the first tick of a schedule: on its grid or at its next cron time, never at once. Unix ms. */
export const firstTickOf = ({ metadata, interval, cron }: Timed & Pick<Check, 'metadata'>, nowMs: number): number =>
  cron === undefined ? firstTickAtMs(md5, metadata.name ?? '', interval, nowMs) : nextDueMs(parseCron(cron), nowMs);

/** Returns the tick after `tickAtMs`. Ticks that have passed are skipped. */
export function tickAfter({ interval, cron }: Timed, tickAtMs: number, nowMs: number): number {
  if (cron === undefined) return nextOnGrid(tickAtMs, interval * 1_000, nowMs);
  const schedule = parseCron(cron);
  return 'everyMs' in schedule.due
    ? nextOnGrid(tickAtMs, schedule.due.everyMs, nowMs)
    : nextDueMs(schedule, Math.max(tickAtMs, nowMs));
}

function nextOnGrid(tickAtMs: number, intervalMs: number, nowMs: number): number {
  const passed = Math.floor(Math.max(0, nowMs - tickAtMs) / intervalMs) + 1;
  return tickAtMs + passed * intervalMs;
}

/** The time over which the requests of one tick are spread, ms. Source: spec/04 1.11, "Splay arithmetic". */
export function spreadOf({ interval, cron }: Timed, nowMs: number): number {
  if (cron === undefined) return interval * 1_000;
  const schedule = parseCron(cron);
  const spreadMs = nextDueMs(schedule, nowMs) - nowMs;
  if (spreadMs >= MIN_SPREAD_MS) return spreadMs;
  const fromMs = nowMs + spreadMs + 1_000;
  return nextDueMs(schedule, fromMs) - fromMs;
}
