import type { Entity } from '../resources/entity.ts';
import { isRedacted, REDACTED } from '../resources/redaction.ts';

/** The first generation redacts these as well where there is no list of its own. Source: spec/05 10.3. */
const REDACTED_BY_DEFAULT = new Set([
  'access_key_id',
  'secret_access_key',
  'routing_key',
  'access_token_read',
  'access_token_write',
  'access_token_path',
  'webhook_url',
  'nickserv_password',
  'channel_password',
  'community',
  'keystore_password',
  'truststore_password',
  'proxy_password',
]);

/** Replaces the values of secret keys at any depth: of the given keys, else of those that are secret by default. */
export function redactedDeep(value: unknown, redact: Entity['redact']): unknown {
  if (Array.isArray(value)) return value.map((item) => redactedDeep(item, redact));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      isSecret(redact, key) ? REDACTED : redactedDeep(member, redact),
    ]),
  );
}

const isSecret = (redact: Entity['redact'], key: string): boolean =>
  isRedacted({ redact }, key) || (redact === undefined && REDACTED_BY_DEFAULT.has(key));
