import type { EntityConfig } from '../../resources/entity.ts';
import { InvalidResource } from '../../resources/errors.ts';
import { isRedacted } from '../../resources/redaction.ts';

const MAPS = ['labels', 'annotations'] as const;

/**
 * Validates that a patch shows no stored value that was redacted before: the right to patch an entity does not include
 * the right to read its secrets. The patch may set a new value, or remove it. @throws InvalidResource
 */
export function assertKeepsSecrets(stored: EntityConfig, edited: EntityConfig, patch: object): void {
  for (const map of MAPS) {
    for (const key of Object.keys(stored.metadata[map] ?? {})) {
      const isShown = isRedacted(stored, key) && !isRedacted(edited, key) && hasOwn(edited.metadata[map], key);
      if (!isShown || sets(patch, map, key)) continue;
      throw new InvalidResource(
        `redact must still cover ${map} ${JSON.stringify(key)}, whose stored value is a secret; or the patch must set a new value, or null to remove it`,
      );
    }
  }
}

const hasOwn = (value: unknown, key: string): boolean =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key);

/** Whether the patch has a value for this label or annotation. */
function sets(patch: object, map: (typeof MAPS)[number], key: string): boolean {
  const { metadata } = patch as { metadata?: Partial<Record<typeof map, unknown>> | null };
  return hasOwn(metadata?.[map], key);
}
