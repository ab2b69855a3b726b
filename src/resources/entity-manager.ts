import type { EntityConfig } from './entity.ts';

/** Whoever owns the configuration of an entity says so in one of these labels. */
const MANAGER_LABELS = ['sensu.io/managed_by', 'mon.io/managed_by'];
const AGENTS = new Set(['sensu-agent', 'mon-agent']);

type Labelled = Pick<EntityConfig, 'metadata'>;

/** Whether the entity's agent owns its configuration: nobody else may change it. */
export const isManagedByAgent = ({ metadata: { labels } }: Labelled): boolean =>
  MANAGER_LABELS.some((label) => AGENTS.has(labels?.[label] ?? ''));

/** Without the labels that say who manages it. */
export function withoutManager<T extends Labelled>(entity: T): T {
  const kept = Object.entries(entity.metadata.labels ?? {}).filter(([key]) => !MANAGER_LABELS.includes(key));
  const labels = kept.length === 0 ? undefined : Object.fromEntries(kept);
  return { ...entity, metadata: { ...entity.metadata, labels } };
}
