import { type Entity, entityWithDefaults, withOwnSubscription } from '../../resources/entity.ts';
import type { CheckEvent } from '../../resources/event.ts';
import { readSharedEntity } from '../../store/entity-store.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import { storeNewEntity } from './stored-entities.ts';

/**
 * Returns the event with the entity it belongs to. Events of an agent keep the entity that was sent; those of a proxy get the stored
 * entity, which is created when there is none. @throws EntityLimitReached
 */
export function resolveEntity(ctx: DecisionContext, event: CheckEvent): CheckEvent {
  const { entity, check, metadata } = event;
  const proxyName = check.proxy_entity_name;
  if (proxyName === '' && entity.entity_class === 'agent') return event;
  const name = proxyName === '' ? (entity.metadata.name ?? '') : proxyName;
  const namespace = entity.metadata.namespace ?? '';
  const stored = readSharedEntity(ctx.decision, namespace, name);
  if (stored !== undefined) return { ...event, entity: stored };
  const sent = proxyName === '' ? entity : entityWithDefaults({ metadata: { name, namespace } });
  const createdBy = metadata.created_by ?? sent.metadata.created_by;
  return { ...event, entity: createProxy(ctx, { ...sent, metadata: { ...sent.metadata, created_by: createdBy } }) };
}

function createProxy(ctx: DecisionContext, entity: Entity): Entity {
  const proxy = withOwnSubscription({ ...entity, entity_class: 'proxy' });
  return storeNewEntity(ctx, proxy, 'event.received');
}
