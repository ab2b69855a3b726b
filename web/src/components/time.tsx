import { nowMs } from '../state/now.ts';

const MINUTE_S = 60;
const HOUR_S = 3_600;
const DAY_S = 86_400;
/** Below two of a unit, the next smaller unit is shown too. */
const PARTS_BELOW = 10;

/** A length of time in one or two units: `45 s`, `3 min`, `2 h 5 min`, `4 d 2 h`. */
export function duration(seconds: number): string {
  const whole = Math.round(Math.abs(seconds));
  if (whole < MINUTE_S) return `${whole} s`;
  if (whole < HOUR_S) return two(whole, MINUTE_S, 'min', 1, 's');
  if (whole < DAY_S) return two(whole, HOUR_S, 'h', MINUTE_S, 'min');
  return two(whole, DAY_S, 'd', HOUR_S, 'h');
}

function two(whole: number, size: number, name: string, smaller: number, smallerName: string): string {
  const count = Math.floor(whole / size);
  const rest = Math.floor((whole % size) / smaller);
  return rest === 0 || count >= PARTS_BELOW ? `${count} ${name}` : `${count} ${name} ${rest} ${smallerName}`;
}

const EXACT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** A time in the user's own zone. */
export const exactTime = (seconds: number): string => EXACT.format(seconds * 1_000);

/** How long ago a time was, or how long it is until then. The exact time is shown on hover. Updates itself. */
export function Ago({ at, prefix = '' }: { at: number | null | undefined; prefix?: string }) {
  if (at === null || at === undefined || at <= 0) return <span class="muted">never</span>;
  const elapsedS = nowMs.value / 1_000 - at;
  const isFuture = elapsedS < -1;
  const text = duration(Math.max(0, isFuture ? -elapsedS : elapsedS));
  return (
    <time dateTime={new Date(at * 1_000).toISOString()} title={exactTime(at)}>
      {prefix}
      {isFuture ? `in ${text}` : `${text} ago`}
    </time>
  );
}

/** How long something has lasted. */
export function Since({ at }: { at: number | null | undefined }) {
  if (at === null || at === undefined || at <= 0) return <span class="muted">unknown</span>;
  return (
    <time dateTime={new Date(at * 1_000).toISOString()} title={`since ${exactTime(at)}`}>
      {duration(Math.max(0, nowMs.value / 1_000 - at))}
    </time>
  );
}
