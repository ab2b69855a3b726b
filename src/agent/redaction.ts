import type { Entity } from '../resources/entity.ts';

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

const REPLACEMENT = 'REDACTED';
const PLAIN = /^[a-z0-9]*$/;

/** Case and punctuation do not count; a key with punctuation loses its digits too. */
function comparable(key: string): string {
  if (PLAIN.test(key)) return key;
  const lower = key.toLowerCase();
  return PLAIN.test(lower) ? lower : lower.replace(/\P{L}/gu, '');
}

/** The entity as people and programs may see it: values of labels and annotations with a redacted key are replaced. */
export function redactedEntity(entity: Entity): Entity {
  const hidden = new Set((entity.redact ?? DEFAULT_REDACT).map(comparable));
  const redact = (map: Record<string, string> | undefined): Record<string, string> | undefined =>
    map &&
    Object.fromEntries(
      Object.entries(map).map(([key, value]) => [key, hidden.has(comparable(key)) ? REPLACEMENT : value]),
    );
  const { labels, annotations } = entity.metadata;
  return { ...entity, metadata: { ...entity.metadata, labels: redact(labels), annotations: redact(annotations) } };
}
