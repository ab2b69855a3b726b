import { type Static, Type } from 'typebox';
import { InvalidResource } from './errors.ts';
import { assertUsername, isUuid } from './names.ts';
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

/** @throws InvalidResource */
export function parseApiKey(value: unknown): ApiKey {
  const key = apiKeyWithDefaults(validateShape(value));
  if (!isUuid(key.metadata.name ?? '')) throw new InvalidResource('api key name must be a UUID');
  assertUsername(key.username);
  return key;
}
