import { EntityLimitReached } from '../../resources/errors.ts';
import { SYSTEM_NAMESPACE } from '../../resources/namespace.ts';
import type { TableReader } from '../../store/commit/decision.ts';
import { ENTITY_COUNT_KEY, entityKey } from '../../store/encoding/keyspace.ts';
import { readResource } from '../../store/resource-store.ts';
import type { DecisionContext } from '../core/decision-context.ts';

interface EntityCount {
  count: number;
  /** The name of the backend's own entity, which is not counted. */
  own?: string;
}

const recordOf = (reader: TableReader): EntityCount =>
  (reader.get('resources', ENTITY_COUNT_KEY) as EntityCount | undefined) ?? { count: 0 };

const isOwn = ({ own }: EntityCount, namespace: string, name: string): boolean =>
  namespace === SYSTEM_NAMESPACE && name === own;

const exists = (reader: TableReader, namespace: string, name: string): boolean =>
  readResource(reader, 'entities', namespace, name) !== undefined;

/** Returns the number of entities of all namespaces and classes, without the backend's own. */
export const entityCount = (reader: TableReader): number => recordOf(reader).count;

/** Reports whether an entity exists or may be created. `limit` 0 = no limit. */
export function hasRoomFor(reader: TableReader, limit: number, namespace: string, name: string): boolean {
  const record = recordOf(reader);
  return limit === 0 || record.count < limit || isOwn(record, namespace, name) || exists(reader, namespace, name);
}

/** Counts a new entity in the decision that creates it. @throws EntityLimitReached */
export function countNewEntity(ctx: DecisionContext, namespace: string, name: string): void {
  const record = recordOf(ctx.decision);
  if (isOwn(record, namespace, name)) return;
  const { entityLimit } = ctx.settings;
  if (entityLimit > 0 && record.count >= entityLimit) {
    throw new EntityLimitReached(entityLimit, entityKey(namespace, name));
  }
  ctx.put('resources', ENTITY_COUNT_KEY, { ...record, count: record.count + 1 });
}

/** Uncounts an entity in the decision that deletes it. */
export function countRemovedEntity(ctx: DecisionContext, namespace: string, name: string): void {
  const record = recordOf(ctx.decision);
  if (!isOwn(record, namespace, name)) {
    ctx.put('resources', ENTITY_COUNT_KEY, { ...record, count: record.count - 1 });
  }
}

/** Sets the name of the backend's own entity, which is not counted, after the backend was renamed. The previous one is counted again. */
export function exemptOwnEntity(ctx: DecisionContext, name: string): void {
  const { count, own } = recordOf(ctx.decision);
  if (own === name) return;
  const found = (entity: string): number => (exists(ctx.decision, SYSTEM_NAMESPACE, entity) ? 1 : 0);
  const change = own === undefined ? 0 : found(own) - found(name);
  ctx.put('resources', ENTITY_COUNT_KEY, { count: count + change, own: name });
}
