import { useEffect, useState } from 'preact/hooks';

const TICK_MS = 250;
const MINUTE_S = 60;
const HOUR_S = 3_600;
const DAY_S = 86_400;

/** The time until a deadline, which counts down. Screen readers get the time once, because a count would not stop talking. */
export function Countdown({ atMs }: { atMs: number | null }) {
  const [nowMs, setNowMs] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  if (atMs === null) return <span class="muted">none</span>;
  return (
    <time class="countdown" dateTime={new Date(atMs).toISOString()} title={new Date(atMs).toLocaleString()}>
      {left(atMs - nowMs)}
    </time>
  );
}

function left(ms: number): string {
  if (ms <= 0) return 'now';
  const seconds = Math.ceil(ms / 1_000);
  if (seconds < MINUTE_S) return `${seconds} s`;
  const two = (value: number): string => String(value).padStart(2, '0');
  const minutes = `${two(Math.floor((seconds % HOUR_S) / MINUTE_S))}:${two(seconds % MINUTE_S)}`;
  if (seconds < HOUR_S) return `${minutes} min`;
  if (seconds < DAY_S) return `${Math.floor(seconds / HOUR_S)}:${minutes} h`;
  return `${Math.floor(seconds / DAY_S)} d ${Math.floor((seconds % DAY_S) / HOUR_S)} h`;
}
