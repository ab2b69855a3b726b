import { feedState } from '../live/feed.ts';
import { nowMs } from '../state/now.ts';
import { duration } from '../components/time.tsx';

/** Shows whether the page is up to date. */
export function LiveMark() {
  const { isLive, sinceMs } = feedState.value;
  const forS = Math.max(0, Math.round((nowMs.value - sinceMs) / 1_000));
  return (
    <span class={isLive ? 'live-mark' : 'live-mark is-lost'} data-live={isLive}>
      <span class="live-dot" aria-hidden="true" />
      <span role="status">{isLive ? 'live' : 'reconnecting'}</span>
      {!isLive && <span class="live-since"> since {duration(forS)}</span>}
    </span>
  );
}
