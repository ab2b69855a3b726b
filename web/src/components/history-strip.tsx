import { exactTime } from './time.tsx';
import { statusName, toneOf } from './status.tsx';

const SLOTS = 21;
const LETTERS = { ok: 'OK', warning: 'W', critical: 'C', unknown: 'U' } as const;

/** The last 21 results, oldest first. With times, each can be read with the pointer and the keyboard. */
export function HistoryStrip({ statuses, times }: { statuses: readonly number[]; times?: readonly number[] }) {
  const shown = statuses.slice(-SLOTS);
  const missing = SLOTS - shown.length;
  const problems = shown.filter((status) => status !== 0).length;
  const summary = `Last ${shown.length} results: ${problems} not OK, the latest ${statusName(shown.at(-1) ?? 0)}`;
  if (times === undefined) {
    return (
      <span class="strip" role="img" aria-label={summary} title={summary}>
        {Array.from({ length: missing }, (_, index) => (
          <i key={`m${index}`} class="strip-none" />
        ))}
        {shown.map((status, index) => (
          <i key={index} class={`strip-${toneOf(status)}`} />
        ))}
      </span>
    );
  }
  return (
    <ol class="strip strip-large" aria-label={summary}>
      {shown.map((status, index) => {
        const at = times[times.length - shown.length + index];
        const text = `${statusName(status)}${at === undefined || at === 0 ? '' : `, ${exactTime(at)}`}`;
        return (
          <li key={index}>
            <button type="button" class={`strip-${toneOf(status)}`} aria-label={text} title={text}>
              {LETTERS[toneOf(status)]}
            </button>
          </li>
        );
      })}
    </ol>
  );
}
