import { type Static, Type } from 'typebox';
import { InvalidResource } from './errors.ts';
import { isUuid } from './names.ts';
import { ObjectMetaSchema, objectMetaWithDefaults } from './object-meta.ts';
import { int64, optional, text, validator } from './schema.ts';

/** As it is stored: the key itself is only known as a hash, `metadata.name` is the identifier people see. */
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

const validateShape = validator(ApiKeySchema);

/** Shape and defaults only, without the rules; a hash that was sent is none. @throws InvalidResource */
export function parseApiKeyShape(value: unknown): ApiKey {
  return { ...apiKeyWithDefaults(validateShape(value)), hash: '' };
}

/** Whether the user exists is not judged here. @throws InvalidResource with the rule it breaks */
export function assertApiKey({ metadata, username }: ApiKey): void {
  if (metadata.namespace !== undefined) throw new InvalidResource('api key cannot have a namespace');
  if (username === '') throw new InvalidResource('api key must have a username');
  if (!isUuid(metadata.name ?? '')) throw new InvalidResource('api key name: must be a UUID');
}

/** As it is shown: never with its hash. */
export function shownApiKey({ metadata, username, created_at }: ApiKey): object {
  return { metadata, username, created_at };
}
