import { InvalidResource } from './errors.ts';
import { isName } from './names.ts';
import { isSilencedName } from './silenced.ts';

/** The kinds of state machine that have a key, and the number of names in their keys. The last name of a silence is `<subscription>:<check>`. */
const NAMES_IN_KEY = {
  entity: 2,
  'check-ttl': 3,
  connection: 1,
  'check-schedule': 2,
  'check-state': 3,
  silence: 2,
} as const;

/** Maximum number of actors that one reader may watch. */
const MAX_INSPECTED_ACTORS = 50;

export type ActorKindName = keyof typeof NAMES_IN_KEY;

export const ACTOR_KINDS = Object.keys(NAMES_IN_KEY) as readonly ActorKindName[];

/** The kind names, for error messages and descriptions. */
export const ACTOR_KIND_NAMES = ACTOR_KINDS.join(', ');

/** One actor, check state or silence, by the names that the ledger uses. */
export interface ActorAddress {
  actor: ActorKindName;
  key: string;
}

export const isActorKindName = (name: string): name is ActorKindName => Object.hasOwn(NAMES_IN_KEY, name);

/** Returns `<actor>:<key>`, which stays the same while the key exists, whether its actor is awake or evicted. */
export const sessionIdOf = ({ actor, key }: ActorAddress): string => `${actor}:${key}`;

/** Parses the result of `sessionIdOf`. @throws InvalidResource */
export function parseActorAddress(text: string): ActorAddress {
  const colon = text.indexOf(':');
  const actor = text.slice(0, Math.max(0, colon));
  if (!isActorKindName(actor)) {
    throw new InvalidResource(`actor must be <actor>:<key> with an actor of ${ACTOR_KIND_NAMES}: "${text}"`);
  }
  const key = text.slice(colon + 1);
  const names = key.split('/');
  const isKey = actor === 'silence' ? isSilenceKey(names) : names.every(isName);
  if (names.length !== NAMES_IN_KEY[actor] || !isKey) {
    throw new InvalidResource(
      `actor ${actor} must have a key of ${NAMES_IN_KEY[actor]} names with / between: "${text}"`,
    );
  }
  return { actor, key };
}

/** Whether a text is the session id of an actor that can exist. */
export function isSessionId(text: string): boolean {
  try {
    return parseActorAddress(text) !== undefined;
  } catch (error) {
    if (error instanceof InvalidResource) return false;
    throw error;
  }
}

const isSilenceKey = ([namespace = '', name = '']: string[]): boolean => isName(namespace) && isSilencedName(name);

/** Parses the addresses of a request; duplicates count once. @throws InvalidResource for none, too many, or one that is not an address */
export function parseActorAddresses(texts: readonly string[]): ActorAddress[] {
  const addresses = new Map(texts.map((text) => [text, parseActorAddress(text)]));
  if (addresses.size === 0) throw new InvalidResource('actor must be given at least once');
  if (addresses.size > MAX_INSPECTED_ACTORS) {
    throw new InvalidResource(`actor must be given at most ${MAX_INSPECTED_ACTORS} times, not ${addresses.size}`);
  }
  return [...addresses.values()];
}
