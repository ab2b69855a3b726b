import { InvalidResource } from './errors.ts';
import { isName } from './names.ts';

/** The kinds of actors that have keys, and the number of names in a key of each. */
const NAMES_IN_KEY = { entity: 2, 'check-ttl': 3, connection: 1, 'check-schedule': 2 } as const;

/** The actors that one client may watch at the same time. */
const MAX_INSPECTED_ACTORS = 50;

/** For error messages. */
export const ACTOR_KIND_NAMES = Object.keys(NAMES_IN_KEY).join(', ');

type ActorKindName = keyof typeof NAMES_IN_KEY;

/** Identifies one actor by its kind name and key, as the ledger does. */
export interface ActorAddress {
  actor: ActorKindName;
  key: string;
}

export const isActorKindName = (name: string): name is ActorKindName => Object.hasOwn(NAMES_IN_KEY, name);

/** Returns `<actor>:<key>`, which stays the same while the key exists, whether its actor is awake or evicted. */
export const sessionIdOf = ({ actor, key }: ActorAddress): string => `${actor}:${key}`;

/** Parses the result of `sessionIdOf`. @throws InvalidResource */
function parseActorAddress(text: string): ActorAddress {
  const colon = text.indexOf(':');
  const actor = text.slice(0, Math.max(0, colon));
  if (!isActorKindName(actor)) {
    throw new InvalidResource(`actor must be <actor>:<key> with an actor of ${ACTOR_KIND_NAMES}: "${text}"`);
  }
  const key = text.slice(colon + 1);
  const names = key.split('/');
  if (names.length !== NAMES_IN_KEY[actor] || !names.every(isName)) {
    throw new InvalidResource(
      `actor ${actor} must have a key of ${NAMES_IN_KEY[actor]} names with / between: "${text}"`,
    );
  }
  return { actor, key };
}

/** Parses the list of actors to watch and drops duplicates. @throws InvalidResource for an empty or too long list, and for an invalid address */
export function parseActorAddresses(texts: readonly string[]): ActorAddress[] {
  const addresses = new Map(texts.map((text) => [text, parseActorAddress(text)]));
  if (addresses.size === 0) throw new InvalidResource('actor must be given at least once');
  if (addresses.size > MAX_INSPECTED_ACTORS) {
    throw new InvalidResource(`actor must be given at most ${MAX_INSPECTED_ACTORS} times, not ${addresses.size}`);
  }
  return [...addresses.values()];
}
