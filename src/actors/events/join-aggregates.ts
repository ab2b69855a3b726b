import type { CheckEvent } from '../../resources/event.ts';
import { aggregatesOf, type MembershipInput } from '../../rules/aggregate-names.ts';
import { lastExecuted } from '../../rules/check-history.ts';
import type { CheckState } from '../../rules/check-state.ts';
import type { EventRecord } from '../../store/records/records.ts';
import type { DecisionContext } from '../core/decision-context.ts';

export interface JoiningResult {
  key: string;
  event: CheckEvent;
  /** The stored check. */
  definition: MembershipInput['definition'];
  previous: EventRecord | undefined;
  /** The merged state. */
  state: CheckState;
}

const NONE: readonly string[] = [];

/** Returns the aggregates that a result joins, for its record. It leaves those that it does not join any more. Undefined for none. */
export function joinAggregates(
  ctx: DecisionContext,
  { key, event, definition, previous, state }: JoiningResult,
): readonly string[] | undefined {
  const { check } = event;
  const after = aggregatesOf({ check: check.metadata.name ?? '', sent: check, definition });
  const before = previous?.aggregates ?? NONE;
  if (after.length === 0 && before.length === 0) return undefined;
  announceAggregates(ctx, { key, before, after, state });
  return after.length === 0 ? undefined : after;
}

/** Removes a deleted event from its aggregates. */
export function leaveAggregates(ctx: DecisionContext, key: string, { aggregates, state }: EventRecord): void {
  if (aggregates !== undefined) announceAggregates(ctx, { key, before: aggregates, after: NONE, state });
}

export interface Membership {
  key: string;
  before: readonly string[];
  after: readonly string[];
  state: CheckState;
}

/** Announces the aggregates of a result before and after a change. */
export function announceAggregates(ctx: DecisionContext, { key, before, after, state: { history } }: Membership): void {
  const [status, executedS] = [history.statuses.at(-1) ?? 0, lastExecuted(history)];
  ctx.announce({ type: 'aggregates.changed', key, before, after, status, executedS });
}
