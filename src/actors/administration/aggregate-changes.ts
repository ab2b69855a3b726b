import { lastExecuted } from '../../rules/check-history.ts';
import { withAggregates } from '../../store/records/encoded-event.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import { announceAggregates } from '../events/join-aggregates.ts';

/** The results that a deletion removes: those executed before this time, Unix seconds. */
export interface PrunedResults {
  beforeS: number;
}

/**
 * Removes results from an aggregate. `keys` are those of their events; the events stay. A later result joins again. Results that are not
 * `pruned` stay.
 */
export function leaveAggregate(
  ctx: DecisionContext,
  name: string,
  keys: readonly string[],
  pruned?: PrunedResults,
): void {
  for (const key of keys) {
    const record = ctx.get('events', key);
    const before = record?.aggregates;
    if (record === undefined || before?.includes(name) !== true) continue;
    if (pruned !== undefined && lastExecuted(record.state.history) >= pruned.beforeS) continue;
    const after = before.filter((other) => other !== name);
    ctx.put('events', key, withAggregates(record, after.length === 0 ? undefined : after));
    announceAggregates(ctx, { key, before, after, state: record.state });
  }
}

/** Records that a user deleted an aggregate with a number of members, or its stale members. */
export function recordDeletedAggregate(
  ctx: DecisionContext,
  {
    namespace,
    name,
    members,
    pruned,
  }: { namespace: string; name: string; members: number; pruned: PrunedResults | undefined },
): void {
  const key = `${namespace}/${name}`;
  const details = { members, ...pruned };
  const change = pruned === undefined ? ({ event: 'aggregate.deleted', to: null } as const) : PRUNED;
  ctx.record({ actor: 'aggregate', key, from: 'stored', ...change, details });
}

const PRUNED = { event: 'aggregate.pruned', to: 'stored' } as const;
