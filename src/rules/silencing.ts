import type { CheckEvent } from '../resources/event.ts';
import { ANY, type Silenced, type SilenceState } from '../resources/silenced.ts';

type Times = Pick<Silenced, 'begin' | 'expire_at'>;

/**
 * Reports whether an entry is active. It is active from the first moment of the second `begin` to the last one of the second
 * `expire_at`. Only the time of the merge decides which entries apply to an event.
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

/** Returns the time of the next change, Unix ms: the start, or the end of the last second. Undefined = never. */
export function nextChangeAtMs({ begin, expire_at, state }: Times & { state: SilenceState }): number | undefined {
  const overAtMs = expire_at > 0 ? (expire_at + 1) * 1_000 : undefined;
  return state === 'pending' ? Math.min(begin * 1_000, overAtMs ?? Infinity) : overAtMs;
}

/** The properties of an event that silences match. */
export interface Silenceable {
  entity: string;
  entitySubscriptions: readonly string[];
  check: string;
  checkSubscriptions: readonly string[];
  /** Whether the check was run for another entity. */
  isProxied: boolean;
}

/** The properties of an event that silences match. */
export function silenceableOf({ entity, check }: Pick<CheckEvent, 'entity' | 'check'>): Silenceable {
  return {
    entity: entity.metadata.name ?? '',
    entitySubscriptions: entity.subscriptions ?? [],
    check: check.metadata.name ?? '',
    checkSubscriptions: check.subscriptions,
    isProxied: check.proxy_entity_name !== '',
  };
}

export interface SilencingOptions {
  /** A silence on any subscription of the entity applies, even when the check was published to another one. */
  matchEntitySubscriptions: boolean;
}

/**
 * Returns the entries that apply to an event, sorted by name. They are looked up by name, which contains all that an entry
 * matches, and not searched for.
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

/** The name is ambiguous when it has several colons: `a:b` with `c` and `a` with `b:c` share one. */
const isOf = (silence: Silenced, subscription: string, check: string): boolean =>
  (silence.subscription ?? ANY) === subscription && (silence.check ?? ANY) === check;

/** Returns the subscriptions by which an entry can apply to the event. */
function subscriptionsOf(
  { entity, entitySubscriptions, checkSubscriptions, isProxied }: Silenceable,
  { matchEntitySubscriptions }: SilencingOptions,
): Set<string> {
  const held = new Set(entitySubscriptions);
  const reached = isProxied || matchEntitySubscriptions ? held : checkSubscriptions.filter((one) => held.has(one));
  return new Set([ANY, `entity:${entity}`, ...reached]);
}
