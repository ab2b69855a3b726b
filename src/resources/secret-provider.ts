import { type Static, Type } from 'typebox';
import { InvalidResource } from './errors.ts';
import { ObjectMetaSchema } from './object-meta.ts';
import { optional, validator } from './schema.ts';

export const SECRETS_API_VERSION = 'secrets/v1';

/** The name of the only provider. It looks secrets up in the environment of the backend. */
export const ENV_PROVIDER = 'env';

const TYPE = 'Env';

export const ProviderSchema = Type.Object(
  {
    type: Type.String({ description: TYPE }),
    api_version: Type.String({ description: SECRETS_API_VERSION }),
    metadata: optional(ObjectMetaSchema),
    spec: optional(Type.Object({}, { description: 'empty' })),
  },
  { $id: 'secrets/v1.Provider' },
);

/** The provider `env`. It is built in, so that there is always exactly one. */
export const BUILT_IN_PROVIDER = {
  type: TYPE,
  api_version: SECRETS_API_VERSION,
  metadata: { name: ENV_PROVIDER },
  spec: {},
} satisfies Static<typeof ProviderSchema>;

const validateShape = validator('secret-provider', ProviderSchema);

/** Accepts only the description of the built-in provider. @throws InvalidResource with the rule it breaks */
export function assertBuiltInProvider(value: unknown): void {
  const { type, api_version: version, metadata, spec } = validateShape(value);
  if (type !== TYPE) throw new InvalidResource(`resource is invalid: type must be ${TYPE}, the only type of provider`);
  if (version !== SECRETS_API_VERSION) {
    throw new InvalidResource(`resource is invalid: api_version must be ${SECRETS_API_VERSION}`);
  }
  if (metadata?.name !== ENV_PROVIDER) {
    throw new InvalidResource(`resource is invalid: metadata.name must be ${ENV_PROVIDER}, the only provider`);
  }
  if (Object.keys(metadata.labels ?? {}).length + Object.keys(metadata.annotations ?? {}).length > 0) {
    throw new InvalidResource('resource is invalid: the provider is built in and has no labels and annotations');
  }
  if (Object.keys(spec ?? {}).length > 0) throw new InvalidResource('resource is invalid: spec must be empty');
}

const VARIABLE = /^[A-Z_][A-Z0-9_]*$/;

/** Whether the name can be that of a variable of the provider `env`. */
export const isSecretVariable = (name: string): boolean => VARIABLE.test(name);
