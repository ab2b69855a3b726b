import { isOwnSecret } from '../../exec/own-secret.ts';
import type { SecretValues } from '../../pipeline/secrets.ts';
import type { Log } from '../../ports/log.ts';
import { isSecretVariable } from '../../resources/secret-provider.ts';
import { maskMemory } from './mask-memory.ts';

/**
 * The environment variables that are secrets of the provider `env`. Taking them removes them from `process.env`, so that a
 * command receives only those that its handler, mutator or check names.
 */
export class SecretVariables implements SecretValues {
  readonly #allowed: readonly string[];
  readonly #values = new Map<string, string>();

  private constructor(allowed: readonly string[]) {
    this.#allowed = allowed;
  }

  /** `allowed` are names, and prefixes that end with `*`. Credentials of this program are never among the secrets. */
  static take(allowed: readonly string[], log: Log): SecretVariables {
    const taken = new SecretVariables(allowed);
    for (const [name, value = ''] of Object.entries(process.env))
      if (taken.allows(name)) taken.#values.set(name, value);
    for (const name of taken.#values.keys()) delete process.env[name];
    if (taken.#values.size === 0) return taken;
    try {
      maskMemory((name) => taken.#values.has(name));
    } catch (err) {
      const variables = [...taken.#values.keys()];
      log.warn({ err, variables }, 'could not hide start-up secrets from other processes of this user');
    }
    return taken;
  }

  allows(id: string): boolean {
    if (!isSecretVariable(id) || isOwnSecret(id)) return false;
    return this.#allowed.some((item) => (item.endsWith('*') ? id.startsWith(item.slice(0, -1)) : id === item));
  }

  of(id: string): string | undefined {
    return this.#values.get(id);
  }
}
