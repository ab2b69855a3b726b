import { namespaceOfKey } from '../../store/encoding/keyspace.ts';
import { eventGroup } from '../../store/commit/object-groups.ts';
import type { EventRecord } from '../../store/records/records.ts';
import type { DecisionContext } from '../core/decision-context.ts';

/** Counts a change of a stored event, for the metrics. Every decision that puts or deletes an event with another state calls it. */
export function countEvent(
  { decision }: DecisionContext,
  key: string,
  previous: EventRecord | undefined,
  next: WithState | undefined,
): void {
  if (previous !== undefined && next !== undefined && isSameGroup(previous, next)) return;
  const namespace = namespaceOfKey(key);
  decision.tally.move('events', previous && eventGroup(namespace, previous), next && eventGroup(namespace, next));
}

type WithState = Pick<EventRecord, 'state'>;

/** Compares without building the names of the groups, because most results change nothing. */
const isSameGroup = ({ state: one }: WithState, { state: other }: WithState): boolean =>
  one.history.statuses.at(-1) === other.history.statuses.at(-1) &&
  one.silenced.length > 0 === other.silenced.length > 0;
