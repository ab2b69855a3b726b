import type { Secret } from '../resources/secret.ts';
import { ENV_PROVIDER } from '../resources/secret-provider.ts';
import type { SecretReference } from '../resources/secret-reference.ts';
import { isName } from '../resources/names.ts';
import { readResource } from '../store/resource-store.ts';
import type { TableReader } from '../store/records/table-reader.ts';

/** The values of the provider `env`. Nothing else of the backend's environment can be read through it. */
export interface SecretValues {
  /** Undefined when the variable is not set, or the operator does not allow it. */
  of(id: string): string | undefined;
  /** Whether the operator allows the variable as a secret. */
  allows(id: string): boolean;
}

/** A provider without values. */
export const NO_SECRET_VALUES: SecretValues = { of: () => undefined, allows: () => false };

/** Entries `NAME=value` for the environment of a command, or why there is none. */
export type ResolvedSecrets = { environment: string[] } | { missing: string };

/**
 * Looks up the values of secrets. One that cannot be found fails all of them; one with an empty value is left out.
 * The values are for the environment of one command, and must not be stored, logged or returned. Source: spec/04 Part 3.
 */
export function resolveSecrets(
  reader: TableReader,
  values: SecretValues,
  namespace: string,
  secrets: readonly SecretReference[] | null,
): ResolvedSecrets {
  const environment: string[] = [];
  for (const { name = '', secret = '' } of secrets ?? []) {
    const found = isName(secret) ? readResource(reader, 'secrets', namespace, secret) : undefined;
    const value = valueOf(found, values);
    if (typeof value === 'object')
      return { missing: `secret "${secret}": ${value.error ?? `invalid secret info: ${secret}`}` };
    if (value !== '') environment.push(`${name}=${value}`);
  }
  return { environment };
}

function valueOf(secret: Secret | undefined, values: SecretValues): string | { error: string | undefined } {
  if (secret === undefined) return { error: undefined };
  const { id, provider } = secret.spec;
  if (provider !== ENV_PROVIDER) return { error: `secret provider not found: ${provider}` };
  if (!values.allows(id)) return { error: `secret not found: ${id} (not allowed by --secrets-env-allow)` };
  return values.of(id) ?? { error: `secret not found: ${id}` };
}
