import type { Check } from '../../resources/check.ts';
import type { TableReader } from '../../store/commit/decision.ts';
import { checkOf } from './schedules.ts';

export const SCHEDULE_KINDS = ['interval', 'cron', 'round_robin_interval', 'round_robin_cron'] as const;
export type ScheduleKind = (typeof SCHEDULE_KINDS)[number];

/** Counts the checks with these keys, by kind of schedule and namespace. */
export function countSchedules(reader: TableReader, keys: Iterable<string>): Record<ScheduleKind, Map<string, number>> {
  const counts = {
    interval: new Map<string, number>(),
    cron: new Map<string, number>(),
    round_robin_interval: new Map<string, number>(),
    round_robin_cron: new Map<string, number>(),
  };
  for (const key of keys) {
    const check = checkOf(reader, key);
    if (check === undefined) continue;
    const ofKind = counts[kindOf(check)];
    const namespace = key.slice(0, key.indexOf('/'));
    ofKind.set(namespace, (ofKind.get(namespace) ?? 0) + 1);
  }
  return counts;
}

function kindOf({ cron, round_robin }: Check): ScheduleKind {
  const timing = cron === undefined ? 'interval' : 'cron';
  return round_robin ? `round_robin_${timing}` : timing;
}
