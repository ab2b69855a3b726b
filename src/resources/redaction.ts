import type { Entity } from './entity.ts';
import type { Event } from './event.ts';

/** Of entities that name no others. */
export const DEFAULT_REDACT: readonly string[] = [
  'password',
  'passwd',
  'pass',
  'api_key',
  'api_token',
  'access_key',
  'secret_key',
  'private_key',
  'secret',
];

const REDACTED = 'REDACTED';
const PLAIN = /^[a-z0-9]*$/;

/** Case and punctuation do not count; a key with punctuation loses its digits too. */
function comparable(key: string): string {
  if (PLAIN.test(key)) return key;
  const lower = key.toLowerCase();
  return PLAIN.test(lower) ? lower : lower.replaceAll(/\P{L}/gu, '');
}

const DEFAULT_WORDS: ReadonlySet<string> = new Set(DEFAULT_REDACT.map(comparable));

type TextMap = Record<string, string> | undefined;

function redactMap(map: TextMap, words: ReadonlySet<string>): TextMap {
  if (map === undefined || !Object.keys(map).some((key) => words.has(comparable(key)))) return map;
  return Object.fromEntries(
    Object.entries(map).map(([key, value]) => [key, words.has(comparable(key)) ? REDACTED : value]),
  );
}

/**
 * The entity as people and programs may see it: values of labels and annotations with a redacted key are replaced. The same
 * object when there are none.
 */
export function redactEntity<E extends Pick<Entity, 'metadata' | 'redact'>>(entity: E): E {
  const { metadata, redact } = entity;
  if (metadata.labels === undefined && metadata.annotations === undefined) return entity;
  const words = redact === undefined ? DEFAULT_WORDS : new Set(redact.map(comparable));
  const labels = redactMap(metadata.labels, words);
  const annotations = redactMap(metadata.annotations, words);
  if (labels === metadata.labels && annotations === metadata.annotations) return entity;
  return { ...entity, metadata: { ...metadata, labels, annotations } };
}

/** The event with its entity as it may be seen. */
export function redactEvent<E extends Event>(event: E): E {
  if (event.entity === undefined) return event;
  const entity = redactEntity(event.entity);
  return entity === event.entity ? event : { ...event, entity };
}

/** Plain data with the values of redacted fields replaced, however deep. `own` words count beside the usual ones. */
export function redactFields(value: unknown, own: readonly string[] = []): unknown {
  const words = own.length === 0 ? DEFAULT_WORDS : new Set([...DEFAULT_WORDS, ...own.map(comparable)]);
  return redactDeep(value, words);
}

function redactDeep(value: unknown, words: ReadonlySet<string>): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((item) => redactDeep(item, words));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, words.has(comparable(key)) ? REDACTED : redactDeep(item, words)]),
  );
}
