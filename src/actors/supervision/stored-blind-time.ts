import { ALIVE_KEY } from '../../store/commit/committer.ts';
import type { TransactionalStore } from '../../store/commit/transactional-store.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import { recordOutage } from '../ticks/outages.ts';
import type { BlindInterval, BlindTime } from '../time/blind-time.ts';

/** Where `meta` keeps the blind intervals. */
const BLIND_KEY = 'blind';

/** When the former process was last alive, in its steady time, ms; undefined before the first start. */
export function lastAliveMs(store: TransactionalStore): number | undefined {
  return store.get('meta', ALIVE_KEY) as number | undefined;
}

/** The stored intervals, and the one from the last alive mark of the former process to `nowMs`. */
export function readBlindIntervals(store: TransactionalStore, nowMs: number): BlindInterval[] {
  const known = (store.get('meta', BLIND_KEY) as BlindInterval[] | undefined) ?? [];
  const aliveAtMs = lastAliveMs(store);
  return aliveAtMs === undefined ? known : [...known, { beginMs: aliveAtMs, endMs: nowMs }];
}

export function storeBlindTime(ctx: DecisionContext, blind: BlindTime): void {
  ctx.put('meta', BLIND_KEY, blind.intervals);
}

/** Writes a blind interval to the ledger; `event` is what ended it. The entry explains alerts that did not come. */
export function recordBlindInterval(
  ctx: DecisionContext,
  backendName: string,
  event: string,
  interval: BlindInterval,
): void {
  recordOutage(ctx, event, interval);
  const { beginMs, endMs } = interval;
  const details = { blindMs: endMs - beginMs };
  ctx.record({ actor: 'backend', key: backendName, from: 'blind', event, to: 'watching', details });
}
