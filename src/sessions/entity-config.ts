import { configOf, type EntityConfig, entityWithDefaults } from '../resources/entity.ts';
import { isManagedByAgent, withoutManager } from '../resources/entity-manager.ts';
import { NOT_FOUND_NAME } from '../wire/json-codec.ts';

/** What an agent gets whose entity is not stored: it keeps its own configuration. */
export function unknownEntity(namespace: string): EntityConfig {
  return configOf(entityWithDefaults({ entity_class: 'agent', metadata: { name: NOT_FOUND_NAME, namespace } }));
}

/** What an agent gets of its stored configuration: who manages it is not its business. */
export function pushedConfig(config: EntityConfig): EntityConfig {
  const asAgent = config.entity_class === 'agent' ? config : { ...config, entity_class: 'agent' };
  return isManagedByAgent(asAgent) ? withoutManager(asAgent) : asAgent;
}
