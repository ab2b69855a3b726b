import { ANY, type Silenced, silencedName } from '../resources/silenced.ts';
import { customOf } from './earlier-attributes.ts';

const OURS = 'entity:';
const EARLIER = 'client:';
const NEVER_S = -1;

/** Returns the id that the first generation has for a silence or a subscription: the subscription of an entity is `client:<name>`. */
export const toEarlierId = (name: string): string => (name.startsWith(OURS) ? EARLIER + name.slice(OURS.length) : name);

/** The reverse of `toEarlierId`. */
export const fromEarlierId = (id: string): string => (id.startsWith(EARLIER) ? OURS + id.slice(EARLIER.length) : id);

/** Returns the ids of the silences of an event, those of a subscription first; `null` for none. */
export function earlierSilencedBy(names: readonly string[]): string[] | null {
  if (names.length === 0) return null;
  const isForAll = (name: string): boolean => name.startsWith(`${ANY}:`);
  const ordered = [...names.filter((name) => !isForAll(name)), ...names.filter(isForAll)];
  return ordered.map(toEarlierId);
}

/** Returns a silence as the first generation shows it; `expire` is the rest of its time. Source: spec/05 9.1. */
export function earlierSilence(silence: Silenced, nowS: number): Record<string, unknown> {
  const { subscription, check, reason, expire_at: expireAt } = silence;
  // Silences of the REST API have no annotations of the first generation.
  const { timestamp = Math.min(silence.begin, nowS), ...given } = customOf(silence.metadata);
  const { begin = silence.begin > nowS ? silence.begin : null, creator = silence.creator ?? null } = given;
  return {
    id: toEarlierId(silencedName(silence)),
    subscription: subscription === undefined || subscription === ANY ? null : toEarlierId(subscription),
    check: check === undefined || check === ANY ? null : check,
    reason: reason ?? null,
    creator,
    begin,
    expire: expireAt === 0 ? NEVER_S : Math.max(0, expireAt - nowS),
    expire_on_resolve: silence.expire_on_resolve,
    timestamp,
  };
}
