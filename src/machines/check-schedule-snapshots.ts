import type { ActorSnapshot } from './actor-snapshot.ts';
import { checkScheduleMachine, type ScheduleContext } from './check-schedule.ts';

const { version = '' } = checkScheduleMachine;

/**
 * Returns the snapshot of a schedule, which is not stored, from its check and its armed deadline. The outcome of earlier ticks is
 * unknown. Without `nextTickAtMs` it accepts any deadline.
 */
export function scheduleSnapshot(key: string, nextTickAtMs: number | undefined): ActorSnapshot {
  const unknown = { lastRunAtMs: undefined, lastSkip: undefined, skipReason: undefined };
  const context: ScheduleContext = { key, nextTickAtMs, ...unknown };
  return { value: { scheduled: 'running' }, context, version };
}
