import type { Check } from '../../resources/check.ts';
import { hasRing } from '../../rules/ring-lease.ts';
import { type RingPositions, takeMembers } from '../../rules/ring-positions.ts';
import { ringPositionsKey } from '../../store/encoding/keyspace.ts';
import { readRingPositions } from '../../store/resource-store.ts';
import type { DecisionContext } from '../core/decision-context.ts';

/** The agents that share the round-robin checks of a subscription, by name: those that send keepalives. */
export interface Rings {
  members(namespace: string, subscription: string): readonly string[];
}

/** Rings without members. */
export const NO_RINGS: Rings = { members: () => [] };

/** Returns the next `items` agents of each ring of the check that has members, and stores the new positions. */
export function takeRingSlots(ctx: DecisionContext, rings: Rings, check: Check, items: number): string[][] {
  const { namespace = '', name = '' } = check.metadata;
  const schedule = check.cron ?? String(check.interval);
  const stored = readRingPositions(ctx.decision, namespace, name);
  const before: RingPositions['rings'] = stored?.schedule === schedule ? stored.rings : {};
  const after: RingPositions['rings'] = {};
  const taken = ringsOf(check).map((subscription) => {
    const next = takeMembers(rings.members(namespace, subscription), before[subscription], items);
    if (next.position !== undefined) after[subscription] = next.position;
    return next.taken;
  });
  if (Object.keys(after).length > 0) {
    ctx.put('resources', ringPositionsKey(namespace, name), { schedule, rings: after });
  } else if (stored !== undefined) ctx.delete('resources', ringPositionsKey(namespace, name));
  return taken.filter((agents) => agents.length > 0);
}

/** Returns how many rings of the check have members. */
export function countRings(rings: Rings, check: Check): number {
  const { namespace = '' } = check.metadata;
  return ringsOf(check).filter((subscription) => rings.members(namespace, subscription).length > 0).length;
}

const ringsOf = ({ subscriptions }: Check): string[] => [...new Set(subscriptions.filter(hasRing))];
