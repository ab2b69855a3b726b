import { DEFAULT_SETTINGS } from '../../actors/core/settings.ts';
import type { SilenceConfig } from '../../config/flags/silence-flags.ts';
import type { ApiPorts } from '../../http/app.ts';
import type { Clock } from '../../ports/clock.ts';
import { actingSilenceNames } from '../../store/acting-silences.ts';
import type { TransactionalStore } from '../../store/commit/transactional-store.ts';
import { VisibleStore } from '../../store/visible-store.ts';

/** How the API matches silences: in the same way as for results. */
export function silencePorts(
  { silenceMatchEntitySubscriptions = DEFAULT_SETTINGS.silencesMatchEntitySubscriptions }: SilenceConfig,
  store: TransactionalStore,
  clock: Clock,
): Pick<ApiPorts, 'silencing' | 'silencesNow'> {
  const silencing = { matchEntitySubscriptions: silenceMatchEntitySubscriptions };
  const reader = new VisibleStore(store);
  return {
    silencing,
    silencesNow: (event) =>
      actingSilenceNames(reader, event, { ...silencing, nowS: Math.floor(clock.nowMs() / 1_000) }),
  };
}
