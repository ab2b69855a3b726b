import { ANY, type Silenced, type SilenceState } from '../resources/silenced.ts';

type Times = Pick<Silenced, 'begin' | 'expire_at'>;

/**
 * Whole seconds decide, and both ends count: an entry acts from the first moment of the second `begin` to the last one
 * of the second `expire_at`. What an event meets depends on when it is merged and on nothing else.
 */
export function actsAt(silence: Times, nowS: number): boolean {
  return silence.begin <= nowS && !isOver(silence, nowS);
}

export function isOver({ expire_at }: Times, nowS: number): boolean {
  return expire_at > 0 && expire_at < nowS;
}

export function stateAt({ begin }: Times, nowS: number): SilenceState {
  return begin <= nowS ? 'active' : 'pending';
}

/** When something happens to it next, Unix ms: its begin, or the end of its last second. Undefined = never. */
export function nextChangeAtMs({ begin, expire_at, state }: Times & { state: SilenceState }): number | undefined {
  const overAtMs = expire_at > 0 ? (expire_at + 1) * 1_000 : undefined;
  return state === 'pending' ? Math.min(begin * 1_000, overAtMs ?? Infinity) : overAtMs;
}

/** What entries look at in an event. */
export interface Silenceable {
  entity: string;
  entitySubscriptions: readonly string[];
  check: string;
  checkSubscriptions: readonly string[];
  /** Whether the check was run for another entity. */
  isProxied: boolean;
}

export interface SilencingOptions {
  /** A subscription of the entity suffices, also where the check came to it by another one. */
  matchEntitySubscriptions: boolean;
}

/**
 * The entries that act on an event, in order of names. They are looked up and not searched for: an entry's name says
 * all that it can match.
 */
export function silencesOf<S extends Silenced>(
  event: Silenceable,
  lookUp: (name: string) => S | undefined,
  nowS: number,
  options: SilencingOptions,
): S[] {
  const found: [name: string, silence: S][] = [];
  for (const subscription of subscriptionsOf(event, options)) {
    for (const check of [ANY, event.check]) {
      const name = `${subscription}:${check}`;
      const silence = lookUp(name);
      if (silence !== undefined && isOf(silence, subscription, check) && actsAt(silence, nowS)) {
        found.push([name, silence]);
      }
    }
  }
  return found.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, silence]) => silence);
}

/** Names are ambiguous where checks have colons: `a:b` with `c` and `a` with `b:c` share one. */
const isOf = (silence: Silenced, subscription: string, check: string): boolean =>
  (silence.subscription ?? ANY) === subscription && (silence.check ?? ANY) === check;

/** By which subscriptions an entry can reach the event. */
function subscriptionsOf(
  { entity, entitySubscriptions, checkSubscriptions, isProxied }: Silenceable,
  { matchEntitySubscriptions }: SilencingOptions,
): Set<string> {
  const held = new Set(entitySubscriptions);
  const reached = isProxied || matchEntitySubscriptions ? held : checkSubscriptions.filter((one) => held.has(one));
  return new Set([ANY, `entity:${entity}`, ...reached]);
}
