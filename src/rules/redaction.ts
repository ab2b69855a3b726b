import type { Entity } from '../resources/entity.ts';
import type { Event } from '../resources/event.ts';

const REDACTED = 'REDACTED';
const DEFAULT_KEYS = 'password passwd pass api_key api_token access_key secret_key private_key secret'.split(' ');

/** Keys are compared in lower case; where other characters than letters and digits remain, by their letters alone. */
function comparable(key: string): string {
  const lower = key.toLowerCase();
  return /[^a-z0-9]/.test(lower) ? lower.replaceAll(/[^a-z]/g, '') : lower;
}

const DEFAULT_WORDS: ReadonlySet<string> = new Set(DEFAULT_KEYS.map(comparable));

type TextMap = Record<string, string> | undefined;

function redactMap<T extends TextMap>(map: T, words: ReadonlySet<string>): T | Record<string, string> {
  if (map === undefined || !Object.keys(map).some((key) => words.has(comparable(key)))) return map;
  return Object.fromEntries(
    Object.entries(map).map(([key, value]) => [key, words.has(comparable(key)) ? REDACTED : value]),
  );
}

/** The entity as it is shown: secrets in labels and annotations are hidden. The same object when there are none. */
export function redactEntity(entity: Entity): Entity {
  const { metadata, redact } = entity;
  if (metadata.labels === undefined && metadata.annotations === undefined) return entity;
  const words = redact === undefined ? DEFAULT_WORDS : new Set(redact.map(comparable));
  const labels = redactMap(metadata.labels, words);
  const annotations = redactMap(metadata.annotations, words);
  if (labels === metadata.labels && annotations === metadata.annotations) return entity;
  return { ...entity, metadata: { ...metadata, labels, annotations } };
}

/** The event with its entity as it is shown. */
export function redactEvent<E extends Event>(event: E): E {
  if (event.entity === undefined) return event;
  const entity = redactEntity(event.entity);
  return entity === event.entity ? event : { ...event, entity };
}
