import { duration } from '../../components/time.tsx';
import { nowMs } from '../../state/now.ts';
import type { Explanation } from './explanation.ts';

const NAMES = { result: 'next result', keepalive: 'next keepalive' } as const;

/** How long the backend still waits before it raises an alert by itself. */
export function Countdown({ explanation, isNow }: { explanation: Explanation | undefined; isNow: boolean }) {
  const due = explanation?.due ?? null;
  if (due === null || !isNow) return null;
  const leftS = due.since + due.limit - nowMs.value / 1_000;
  const part = Math.max(0, Math.min(1, leftS / due.limit));
  return (
    <section class="card" aria-labelledby="countdown">
      <header>
        <h2 id="countdown">Waiting for the {NAMES[due.what]}</h2>
        <strong class={leftS < 0 ? 'tone-critical' : ''}>{leftS < 0 ? 'overdue' : duration(leftS)}</strong>
      </header>
      <progress max="1" value={part} aria-label={`Time left for the ${NAMES[due.what]}`} />
      <p class="muted">An alert follows after {duration(due.limit)} of silence.</p>
    </section>
  );
}
