import {
  type AggregateAttributes,
  AGGREGATES_ANNOTATION,
  HANDLE_ANNOTATION,
  isAggregateName,
  listedAggregates,
  MAX_AGGREGATES,
} from '../resources/aggregate-attributes.ts';
import type { Check } from '../resources/check.ts';

/** The attributes of an event, and the stored check of the same name. */
export interface MembershipInput {
  check: string;
  sent: AggregateAttributes;
  definition: Pick<Check, 'metadata' | keyof AggregateAttributes> | undefined;
}

const NONE: readonly string[] = [];

/**
 * Returns the names of the aggregates that a result joins, without duplicates. Each attribute of the event replaces that of the
 * stored check, and `aggregates` replaces `aggregate`. Source: spec/05 6.1.
 */
export function aggregatesOf({ check, sent, definition }: MembershipInput): readonly string[] {
  const aggregates = sent.aggregates ?? definition?.aggregates;
  if (aggregates !== undefined) return aggregates.length === 0 ? NONE : [...new Set(aggregates)];
  const aggregate = sent.aggregate ?? definition?.aggregate;
  if (aggregate !== undefined) return namedBy(aggregate, check);
  const listed = definition?.metadata.annotations?.[AGGREGATES_ANNOTATION];
  return listed === undefined ? NONE : listedIn(listed);
}

/** An aggregate `true` has the name of the check. */
function namedBy(aggregate: string | boolean, check: string): readonly string[] {
  const name = aggregate === true ? check : aggregate;
  return name === false ? NONE : [name];
}

/** Returns the valid names of a list, as many as a check may join. A check that was stored by an earlier version may have others. */
function listedIn(list: string): readonly string[] {
  const names = listedAggregates(list).filter(isAggregateName);
  return [...new Set(names.slice(0, MAX_AGGREGATES))];
}

/** Whether handlers run with the results of a check. The attribute of the event replaces that of the stored check. */
export function isHandled(sent: AggregateAttributes, definition: MembershipInput['definition']): boolean {
  const handle = sent.handle ?? definition?.handle;
  return handle ?? definition?.metadata.annotations?.[HANDLE_ANNOTATION] !== 'false';
}
