import type { Entity } from './entity.ts';
import type { Event } from './event.ts';

/** The redacted keys of entities without a list of their own. */
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

/** Replaces a redacted value. */
export const REDACTED = 'REDACTED';
const PLAIN = /^[a-z0-9]*$/;

/** Returns a key without case and punctuation. The digits of a key with punctuation are removed as well. */
function comparable(key: string): string {
  if (PLAIN.test(key)) return key;
  const lower = key.toLowerCase();
  return PLAIN.test(lower) ? lower : lower.replaceAll(/\P{L}/gu, '');
}

const DEFAULT_KEYS: ReadonlySet<string> = new Set(DEFAULT_REDACT.map(comparable));

type TextMap = Record<string, string> | undefined;

function redactMap(map: TextMap, keys: ReadonlySet<string>): TextMap {
  if (map === undefined || !Object.keys(map).some((key) => keys.has(comparable(key)))) return map;
  return Object.fromEntries(
    Object.entries(map).map(([key, value]) => [key, keys.has(comparable(key)) ? REDACTED : value]),
  );
}

/** Whether a list equals the default one, which most agents send with their entity. */
const isDefaultList = (redact: readonly string[]): boolean =>
  redact.length === DEFAULT_REDACT.length && redact.every((key, index) => key === DEFAULT_REDACT[index]);

/** The keys of lists that were read before. The events of an agent share the list of its entity, and no list is changed. */
const KEYS_OF = new WeakMap<readonly string[], ReadonlySet<string>>();

function redactedKeys(redact: Entity['redact']): ReadonlySet<string> {
  if (redact === undefined || isDefaultList(redact)) return DEFAULT_KEYS;
  const known = KEYS_OF.get(redact);
  if (known !== undefined) return known;
  const keys = new Set(redact.map(comparable));
  KEYS_OF.set(redact, keys);
  return keys;
}

/** Whether the label or annotation `key` of an entity is redacted. */
export const isRedacted = ({ redact }: Pick<Entity, 'redact'>, key: string): boolean =>
  redactedKeys(redact).has(comparable(key));

/** Returns the test for names whose values are secret: those that the entity redacts, and the default ones. */
export function secretNameTest({ redact }: Pick<Entity, 'redact'>): (name: string) => boolean {
  const own = redactedKeys(redact);
  return (name) => own.has(comparable(name)) || DEFAULT_KEYS.has(comparable(name));
}

/**
 * Replaces the values of labels and annotations whose keys are redacted. Returns the same object when there are none.
 */
export function redactEntity<E extends Pick<Entity, 'metadata' | 'redact'>>(entity: E): E {
  const { metadata, redact } = entity;
  if (metadata.labels === undefined && metadata.annotations === undefined) return entity;
  const keys = redactedKeys(redact);
  const labels = redactMap(metadata.labels, keys);
  const annotations = redactMap(metadata.annotations, keys);
  if (labels === metadata.labels && annotations === metadata.annotations) return entity;
  return { ...entity, metadata: { ...metadata, labels, annotations } };
}

/** Returns the event with its entity redacted. */
export function redactEvent<E extends Event>(event: E): E {
  if (event.entity === undefined) return event;
  const entity = redactEntity(event.entity);
  return entity === event.entity ? event : { ...event, entity };
}

/** Replaces the values of redacted fields at any depth. The keys of `own` are redacted in addition to the default ones. */
export function redactFields(value: unknown, own: readonly string[] = []): unknown {
  const keys = own.length === 0 ? DEFAULT_KEYS : new Set([...DEFAULT_KEYS, ...own.map(comparable)]);
  return redactDeep(value, keys);
}

function redactDeep(value: unknown, keys: ReadonlySet<string>): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((item) => redactDeep(item, keys));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, keys.has(comparable(key)) ? REDACTED : redactDeep(item, keys)]),
  );
}
