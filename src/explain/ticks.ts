import { setImmediate as nextTick } from 'node:timers/promises';
import { entityOutcomes, type TickOutcomeAt } from '../rules/entity-ticks.ts';
import { isSameResult } from '../rules/tick-streaks.ts';
import type { EventAddress } from '../store/encoding/keyspace.ts';
import type { TickStore } from '../store/tick-store.ts';
import type { Excerpt, TickRun } from './explanation.ts';

/** The maximum number of ticks that are counted for one explanation. */
const MAX_TICKS = 20_000;
/** Ticks that are read at once; other work is done between two slices. */
const TICKS_PER_SLICE = 5_000;
/** Runs of ticks with the same outcome. */
const MAX_RUNS = 50;

/** Finds the outcomes of the ticks of a check for an entity within a time; undefined when there is no record of the check. */
export async function ticksOf(
  ticks: Pick<TickStore, 'ofCheck' | 'ofEntity'>,
  { namespace, entity, check }: EventAddress,
  fromMs: number,
  atMs: number,
): Promise<Excerpt<TickRun> | undefined> {
  const ofCheck = ticks.ofCheck(namespace, check, fromMs);
  if (ofCheck === undefined) return undefined;
  const ofEntity = ticks.ofEntity(namespace, check, entity, fromMs);
  const runs: { run: TickRun; last: TickOutcomeAt }[] = [];
  let read = 0;
  for (const tick of entityOutcomes(ofCheck, ofEntity, fromMs, atMs)) {
    if (read === MAX_TICKS) return { items: runs.map(({ run }) => run), hasMore: true };
    read += 1;
    if (read % TICKS_PER_SLICE === 0) await nextTick();
    const open = runs.at(-1);
    if (open !== undefined && continues(open.last, tick)) {
      open.run = { ...open.run, toMs: tick.toMs, count: (open.run.count ?? 0) + 1 };
      open.last = tick;
      continue;
    }
    if (runs.length === MAX_RUNS) return { items: runs.map(({ run }) => run), hasMore: true };
    runs.push({ run: runOf(tick), last: tick });
  }
  return { items: runs.map(({ run }) => run), hasMore: false };
}

const continues = (last: TickOutcomeAt, tick: TickOutcomeAt): boolean =>
  !last.isWhole && !tick.isWhole && isSameResult(last.result, tick.result);

const runOf = ({ atMs, toMs, result, isWhole }: TickOutcomeAt): TickRun => ({
  outcome: result.outcome,
  reason: result.reason,
  fromMs: atMs,
  toMs,
  count: isWhole ? undefined : 1,
});
