import { type Static, Type } from 'typebox';
import { InvalidResource } from './errors.ts';
import { assertName } from './names.ts';
import { ObjectMetaSchema, objectMetaWithDefaults } from './object-meta.ts';
import { optional, text, validator } from './schema.ts';
import { ENV_PROVIDER, isSecretVariable, SECRETS_API_VERSION } from './secret-provider.ts';

const TYPE = 'Secret';
const MAX_ID_CHARACTERS = 1_000;

const SpecSchema = Type.Object({
  id: optional(text('name of the value at the provider; for the provider `env`, an environment variable')),
  provider: optional(text('name of a provider')),
});

/** Where to find the value of a secret. The value itself is never stored and never shown. */
export const SecretSchema = Type.Object(
  {
    type: optional(text(TYPE)),
    api_version: optional(text(SECRETS_API_VERSION)),
    metadata: optional(ObjectMetaSchema),
    spec: optional(SpecSchema),
  },
  { $id: 'secrets/v1.Secret' },
);

export type Secret = ReturnType<typeof secretWithDefaults>;

export const secretWithDefaults = (input: Static<typeof SecretSchema>) => ({
  type: input.type ?? TYPE,
  api_version: input.api_version ?? SECRETS_API_VERSION,
  metadata: objectMetaWithDefaults(input.metadata),
  spec: { id: input.spec?.id ?? '', provider: input.spec?.provider ?? '' },
});

const validateShape = validator('secret', SecretSchema);

/** Validates the shape and sets defaults; does not check the rules. @throws InvalidResource */
export function parseSecretShape(value: unknown): Secret {
  return secretWithDefaults(validateShape(value));
}

/** Does not check that the provider exists and has the value. @throws InvalidResource with the rule it breaks */
export function assertSecret({ type, api_version: version, metadata, spec: { id, provider } }: Secret): void {
  if (type !== TYPE) throw new InvalidResource(`type must be ${TYPE}`);
  if (version !== SECRETS_API_VERSION) throw new InvalidResource(`api_version must be ${SECRETS_API_VERSION}`);
  assertName(metadata.name ?? '', 'secret name');
  if (metadata.namespace === undefined) throw new InvalidResource('namespace must be set');
  assertName(provider, 'spec.provider');
  if (id === '') throw new InvalidResource('spec.id must not be empty');
  if (id.length > MAX_ID_CHARACTERS)
    throw new InvalidResource(`spec.id must have at most ${MAX_ID_CHARACTERS} characters`);
  if (provider === ENV_PROVIDER && !isSecretVariable(id)) {
    throw new InvalidResource(
      'spec.id must be the name of an environment variable: A-Z, 0-9 and _, not starting with a digit',
    );
  }
}
