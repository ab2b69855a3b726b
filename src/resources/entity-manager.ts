import type { EntityConfig } from './entity.ts';
import { AlreadyExists } from './errors.ts';

/** The labels that name the owner of an entity's configuration. */
const MANAGER_LABELS = ['sensu.io/managed_by', 'mon.io/managed_by'];
const AGENTS = new Set(['sensu-agent', 'mon-agent']);

type Labelled = Pick<EntityConfig, 'metadata'>;

/** Reports whether the entity's agent owns its configuration, which then only the agent may change. */
export const isManagedByAgent = ({ metadata: { labels } }: Labelled): boolean =>
  MANAGER_LABELS.some((label) => AGENTS.has(labels?.[label] ?? ''));

export const managedByAgent = (): AlreadyExists => new AlreadyExists('entity is managed by its agent');

/** Returns the labels without those that name the owner. */
export function withoutManager<T extends Labelled>(entity: T): T {
  const kept = Object.entries(entity.metadata.labels ?? {}).filter(([key]) => !MANAGER_LABELS.includes(key));
  const labels = kept.length === 0 ? undefined : Object.fromEntries(kept);
  return { ...entity, metadata: { ...entity.metadata, labels } };
}
