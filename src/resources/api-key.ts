import { type Static, Type } from 'typebox';
import { InvalidResource } from './errors.ts';
import { isUuid } from './names.ts';
import { ObjectMetaSchema, objectMetaWithDefaults } from './object-meta.ts';
import { int64, optional, text, validator } from './schema.ts';

/** A stored API key. Only the hash of the key is stored; `metadata.name` is its public identifier. */
export const ApiKeySchema = Type.Object(
  {
    metadata: optional(ObjectMetaSchema),
    username: optional(text()),
    created_at: optional(int64('Unix seconds')),
    hash: optional(text('SHA-256 of the key, hexadecimal')),
  },
  { $id: 'core/v2.APIKey' },
);

export type ApiKey = ReturnType<typeof apiKeyWithDefaults>;

export function apiKeyWithDefaults(input: Static<typeof ApiKeySchema>) {
  return {
    metadata: objectMetaWithDefaults(input.metadata),
    username: input.username ?? '',
    created_at: input.created_at ?? 0,
    hash: input.hash ?? '',
  };
}

const validateShape = validator('api-key', ApiKeySchema);

/** Validates the shape and sets defaults; does not check the rules. Drops a hash that was sent. @throws InvalidResource */
export function parseApiKeyShape(value: unknown): ApiKey {
  return { ...apiKeyWithDefaults(validateShape(value)), hash: '' };
}

/** Does not check that the user exists. @throws InvalidResource with the rule it breaks */
export function assertApiKey({ metadata, username }: ApiKey): void {
  if (metadata.namespace !== undefined) throw new InvalidResource('api key cannot have a namespace');
  if (username === '') throw new InvalidResource('api key must have a username');
  if (!isUuid(metadata.name ?? '')) throw new InvalidResource('api key name: must be a UUID');
}

/** Returns the key without its hash, for responses. */
export function shownApiKey({ metadata, username, created_at }: ApiKey): object {
  return { metadata, username, created_at };
}
