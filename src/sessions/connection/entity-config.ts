import { configOf, type EntityConfig, entityWithDefaults } from '../../resources/entity.ts';
import { isManagedByAgent, withoutManager } from '../../resources/entity-manager.ts';
import { NOT_FOUND_NAME } from '../../wire/json-codec.ts';

/** Sent to an agent whose entity is not stored. It tells the agent to keep its own configuration. */
export function unknownEntity(namespace: string): EntityConfig {
  return configOf(entityWithDefaults({ entity_class: 'agent', metadata: { name: NOT_FOUND_NAME, namespace } }));
}

/** The stored configuration in the form sent to the agent, without the label that marks its manager. */
export function pushedConfig(config: EntityConfig): EntityConfig {
  const asAgent = config.entity_class === 'agent' ? config : { ...config, entity_class: 'agent' };
  return isManagedByAgent(asAgent) ? withoutManager(asAgent) : asAgent;
}
