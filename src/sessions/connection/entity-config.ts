import { configOf, type EntityConfig, entityWithDefaults } from '../../resources/entity.ts';
import { isManagedByAgent, withoutManager } from '../../resources/entity-manager.ts';
import { withinListBounds } from '../../resources/list-bounds.ts';
import { withinMetaBounds } from '../../resources/meta-bounds.ts';
import { NOT_FOUND_NAME } from '../../wire/json-codec.ts';

/** Sent to an agent whose entity is not stored. The agent then keeps its own configuration. */
export function unknownEntity(namespace: string): EntityConfig {
  return configOf(entityWithDefaults({ entity_class: 'agent', metadata: { name: NOT_FOUND_NAME, namespace } }));
}

/**
 * The stored configuration in the form sent to the agent, without the label that marks its manager. The agent sends it back with
 * each keepalive and event, so subscriptions, keepalive handlers, labels and annotations beyond their bounds are left out.
 */
export function pushedConfig(config: EntityConfig): EntityConfig {
  const { subscriptions, keepalive_handlers: handlers, metadata } = config;
  const asAgent: EntityConfig = {
    ...config,
    entity_class: 'agent',
    subscriptions: subscriptions && withinListBounds(subscriptions),
    keepalive_handlers: handlers && withinListBounds(handlers),
    metadata: withinMetaBounds(metadata),
  };
  return isManagedByAgent(asAgent) ? withoutManager(asAgent) : asAgent;
}
