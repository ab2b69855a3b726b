import type { ActorSnapshot } from './actor-snapshot.ts';
import { checkScheduleMachine, type ScheduleContext } from './check-schedule.ts';

const { version = '' } = checkScheduleMachine;

/**
 * The snapshot of a schedule, which no record holds: it follows from its check and its armed deadline, and the outcome of
 * former ticks is not known. Without `nextTickAtMs` it accepts the deadline that comes.
 */
export function scheduleSnapshot(key: string, nextTickAtMs: number | undefined): ActorSnapshot {
  const unknown = { lastRunAtMs: undefined, lastSkip: undefined, skipReason: undefined };
  const context: ScheduleContext = { key, nextTickAtMs, ...unknown };
  return { value: { scheduled: 'running' }, context, version };
}
