import type { SkippedTick } from '../../machines/check-schedule.ts';
import { entityKey } from '../../store/keyspace.ts';
import type { Decider } from '../core/decider.ts';
import { checkOf, scheduleContext, sendToSchedule } from './schedules.ts';

/** Where the schedule of a check stands. What was before the start of this process is not known. */
export interface ScheduleStatus {
  intervalS: number;
  cron: string | undefined;
  /** Undefined while the schedule is in quarantine. */
  nextTickAtMs: number | undefined;
  lastRunAtMs: number | undefined;
  lastSkip: SkippedTick | undefined;
  /** Fields of the check that are kept and have no effect. */
  ignored: readonly string[];
}

/** Asks the actor itself: no record has it. Undefined when there is no such check. @throws StoreUnavailable */
export function scheduleStatus(decider: Decider, namespace: string, name: string): ScheduleStatus | undefined {
  const key = entityKey(namespace, name);
  return decider.decide({ cause: { restore: true }, unbounded: true }, (ctx) => {
    const check = checkOf(ctx.decision, key);
    if (check === undefined) return undefined;
    const { nextTickAtMs, lastRunAtMs, lastSkip } = scheduleContext(
      sendToSchedule(ctx, key, { type: 'schedule.asked' }),
    );
    const { interval: intervalS, cron } = check;
    return { intervalS, cron, nextTickAtMs, lastRunAtMs, lastSkip, ignored: ignoredFields(check) };
  }).result;
}

/** Weekly windows are of a time before `subdues`; they are kept, shown and sent, and nobody obeys them. Source: spec/04 1.7. */
export const ignoredFields = ({ subdue }: { subdue: { days: object } | null }): string[] =>
  Object.keys(subdue?.days ?? {}).length > 0 ? ['subdue'] : [];
