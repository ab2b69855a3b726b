import { InvalidResource } from './errors.ts';
import { isName } from './names.ts';

/** The kinds of state machine that run under a key, and of how many names the keys of each are made. */
const NAMES_IN_KEY = { entity: 2, 'check-ttl': 3, connection: 1, 'check-schedule': 2 } as const;

/** Actors that one reader may watch. */
const MAX_INSPECTED_ACTORS = 50;

/** For texts. */
export const ACTOR_KIND_NAMES = Object.keys(NAMES_IN_KEY).join(', ');

type ActorWord = keyof typeof NAMES_IN_KEY;

/** One actor, by the words of the ledger. */
export interface ActorAddress {
  actor: ActorWord;
  key: string;
}

export const isActorKindName = (word: string): word is ActorWord => Object.hasOwn(NAMES_IN_KEY, word);

/** `<actor>:<key>`, the same for as long as the key lives, whether its actor sleeps or not. */
export const sessionIdOf = ({ actor, key }: ActorAddress): string => `${actor}:${key}`;

/** The address that `sessionIdOf` writes. @throws InvalidResource */
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

/** The actors that somebody asks to watch; those asked for twice count once. @throws InvalidResource for none, too many, or one that is no address */
export function parseActorAddresses(texts: readonly string[]): ActorAddress[] {
  const addresses = new Map(texts.map((text) => [text, parseActorAddress(text)]));
  if (addresses.size === 0) throw new InvalidResource('actor must be given at least once');
  if (addresses.size > MAX_INSPECTED_ACTORS) {
    throw new InvalidResource(`actor must be given at most ${MAX_INSPECTED_ACTORS} times, not ${addresses.size}`);
  }
  return [...addresses.values()];
}
