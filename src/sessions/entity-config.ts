import { configOf, type EntityConfig, entityWithDefaults } from '../resources/entity.ts';
import { NOT_FOUND_NAME } from '../wire/json-codec.ts';

const MANAGED_BY_LABEL = 'sensu.io/managed_by';
const MANAGED_BY_AGENT = 'sensu-agent';

/** What an agent gets whose entity is not stored: it keeps its own configuration. */
export function unknownEntity(namespace: string): EntityConfig {
  return configOf(entityWithDefaults({ entity_class: 'agent', metadata: { name: NOT_FOUND_NAME, namespace } }));
}

/** What an agent gets of its stored configuration: who manages it is not its business. */
export function pushedConfig(config: EntityConfig): EntityConfig {
  const { labels } = config.metadata;
  const asAgent = config.entity_class === 'agent' ? config : { ...config, entity_class: 'agent' };
  if (labels?.[MANAGED_BY_LABEL] !== MANAGED_BY_AGENT) return asAgent;
  const kept = Object.entries(labels).filter(([key]) => key !== MANAGED_BY_LABEL);
  const rest = kept.length === 0 ? undefined : Object.fromEntries(kept);
  return { ...asAgent, metadata: { ...config.metadata, labels: rest } };
}
