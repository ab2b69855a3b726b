import { resolveSecrets } from '../../pipeline/secrets.ts';
import type { Check } from '../../resources/check.ts';
import { InvalidResource } from '../../resources/errors.ts';
import type { DecisionContext } from '../core/decision-context.ts';

/** The value of a secret of the check cannot be found, so that no agent is asked. The message names the secret. */
export class SecretsNotResolved extends InvalidResource {}

/**
 * Agents receive the values at delivery only, because a decision is stored and announced. This looks them up beforehand, so
 * that a check without one of them asks no agent. @throws SecretsNotResolved
 */
export function assertSecretsResolve(
  { decision, settings }: DecisionContext,
  { metadata, secrets }: Pick<Check, 'metadata' | 'secrets'>,
): void {
  const resolved = resolveSecrets(decision, settings.secretValues, metadata.namespace ?? '', secrets);
  if ('missing' in resolved) throw new SecretsNotResolved(resolved.missing);
}
