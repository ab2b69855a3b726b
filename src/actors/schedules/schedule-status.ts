import type { SkippedTick } from '../../machines/check-schedule.ts';
import type { Check } from '../../resources/check.ts';
import { entityKey } from '../../store/encoding/keyspace.ts';
import { type Decider, internal } from '../core/decider.ts';
import { tickAfter } from '../ticks/schedule-timing.ts';
import { checkOf, scheduleContext } from './schedules.ts';

/** Ticks that are shown. */
const UPCOMING = 5;

/** The state of a check's schedule. Ticks before the start of this process are not known. */
export interface ScheduleStatus {
  intervalS: number;
  cron: string | undefined;
  /** Undefined while the schedule is in quarantine. */
  nextTickAtMs: number | undefined;
  /** The next ticks, that one included. */
  upcomingAtMs: readonly number[];
  lastRunAtMs: number | undefined;
  lastSkip: SkippedTick | undefined;
  /** Fields of the check that are stored and have no effect. */
  ignored: readonly string[];
}

/** Reads the snapshot of the actor, because no record holds it. Undefined when the check does not exist. @throws StoreUnavailable */
export function scheduleStatus(decider: Decider, namespace: string, name: string): ScheduleStatus | undefined {
  const key = entityKey(namespace, name);
  return decider.decide(internal('schedule.queried'), (ctx) => {
    const check = checkOf(ctx.decision, key);
    if (check === undefined) return undefined;
    const context = scheduleContext(ctx, key);
    return {
      intervalS: check.interval,
      cron: check.cron,
      nextTickAtMs: context?.nextTickAtMs,
      upcomingAtMs: upcomingTicks(check, context?.nextTickAtMs),
      lastRunAtMs: context?.lastRunAtMs,
      lastSkip: context?.lastSkip,
      ignored: ignoredFields(check),
    };
  }).result;
}

function upcomingTicks(check: Check, nextTickAtMs: number | undefined): number[] {
  const ticks: number[] = [];
  for (let atMs = nextTickAtMs; atMs !== undefined && ticks.length < UPCOMING; atMs = tickAfter(check, atMs, atMs)) {
    ticks.push(atMs);
  }
  return ticks;
}

/** Returns the fields that the backend stores, shows and sends, and that have no effect: `subdue` has had none since `subdues` (spec/04 1.7). */
export const ignoredFields = ({ subdue }: Pick<Check, 'subdue'>): string[] =>
  Object.keys(subdue?.days ?? {}).length > 0 ? ['subdue'] : [];
