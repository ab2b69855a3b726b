import { type Entity, entityWithDefaults, type System } from '../../resources/entity.ts';
import { SYSTEM_NAMESPACE } from '../../resources/namespace.ts';
import { readEntity } from '../../store/entity-store.ts';
import { entityKey } from '../../store/encoding/keyspace.ts';
import { readResource } from '../../store/resource-store.ts';
import { exemptOwnEntity } from '../entities/entity-limit.ts';
import { addNamespace } from '../administration/resource-changes.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import { replaceConfig, storeNewEntity } from '../entities/stored-entities.ts';

/** The backend's own entity. It is made, with its namespace, when it does not exist. */
export function ensureOwnEntity(ctx: DecisionContext, name: string): Entity {
  const namespace = SYSTEM_NAMESPACE;
  if (readResource(ctx.decision, 'namespaces', undefined, namespace) === undefined) {
    addNamespace(ctx, { name: namespace });
  }
  exemptOwnEntity(ctx, name);
  const known = readEntity(ctx.decision, namespace, name);
  if (known !== undefined) return known;
  const entity = entityWithDefaults({ entity_class: 'backend', metadata: { name, namespace } });
  ctx.reviseConfig('entities', entityKey(namespace, name), 'created', []);
  return storeNewEntity(ctx, entity, 'entity.created');
}

/** The labels and annotations that the operator gives to the own entity. */
export interface OwnMetadata {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Adds labels and annotations to the own entity, in place of those of the same keys. Others stay. */
export function labelOwnEntity(ctx: DecisionContext, name: string, { labels, annotations }: OwnMetadata): void {
  ensureOwnEntity(ctx, name);
  const config = readResource(ctx.decision, 'entities', SYSTEM_NAMESPACE, name);
  if (config === undefined) return;
  const { metadata } = config;
  const isThere = (stored: OwnMetadata['labels'] | null | undefined, given: OwnMetadata['labels']): boolean =>
    Object.entries(given).every(([key, value]) => stored?.[key] === value);
  if (isThere(metadata.labels, labels) && isThere(metadata.annotations, annotations)) return;
  const merged = {
    ...metadata,
    labels: { ...metadata.labels, ...labels },
    annotations: { ...metadata.annotations, ...annotations },
  };
  replaceConfig(ctx, { ...config, metadata: merged }, config);
}

/** Stores the description of the machine that the backend runs on, which may have changed since the last start. */
export function describeOwnEntity(ctx: DecisionContext, name: string, system: System): void {
  ensureOwnEntity(ctx, name);
  const key = entityKey(SYSTEM_NAMESPACE, name);
  const record = ctx.get('entities', key);
  if (record !== undefined) ctx.put('entities', key, { ...record, state: { ...record.state, system } });
}
