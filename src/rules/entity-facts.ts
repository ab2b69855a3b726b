import type { EntityConfig } from '../resources/entity.ts';

/**
 * An entity as tokens and expressions see it: its configuration, with every field that JSON would leave out, and its metadata beside the
 * other fields. What its agent reports is not there. Source: spec/04 1.11.
 */
export function entityFacts(config: EntityConfig) {
  const { metadata, deregistration } = config;
  return {
    name: metadata.name ?? '',
    namespace: metadata.namespace ?? '',
    labels: metadata.labels ?? {},
    annotations: metadata.annotations ?? {},
    created_by: metadata.created_by ?? '',
    entity_class: config.entity_class,
    user: config.user ?? '',
    subscriptions: config.subscriptions ?? [],
    deregister: config.deregister,
    deregistration: { handler: deregistration.handler ?? '' },
    keepalive_handlers: config.keepalive_handlers ?? [],
    redact: config.redact ?? [],
  };
}

/** The same for expressions, which may ask for the metadata as such, too. */
export function entityVariable(config: EntityConfig) {
  const facts = entityFacts(config);
  const { name, namespace, labels, annotations, created_by } = facts;
  return { ...facts, metadata: { name, namespace, labels, annotations, created_by } };
}
