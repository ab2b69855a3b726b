import { randomUUID } from 'node:crypto';
import type { EntityContext } from '../../machines/entity.ts';
import { configOf, type Entity, type EntityConfig, withOwnSubscription } from '../../resources/entity.ts';
import { isManagedByAgent } from '../../resources/entity-manager.ts';
import { type CheckEvent, eventCheckWithDefaults, eventWithDefaults } from '../../resources/event.ts';
import { entityKey } from '../../store/keyspace.ts';
import { eventOf } from '../../store/records.ts';
import { readResource } from '../../store/resource-store.ts';
import { changedFields } from '../core/changed-fields.ts';
import { KEEPALIVE } from '../events/merge-event.ts';
import { publishEvent } from '../events/publish.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import { endSilencesOfEntity, withSilences } from '../events/silences.ts';
import { removeEntity, replaceConfig, storeNewEntity } from '../entities/stored-entities.ts';

const REGISTRATION = 'registration';
const DEREGISTRATION = 'deregistration';
const RESOLVED = 'Resolving due to entity deregistering';
/** The first keepalive of a connection carries it. */
const FIRST_SEQUENCE = 1;

/**
 * A keepalive of an agent: makes its entity when it is new, and takes the configuration of one that manages its own.
 * @throws EntityLimitReached
 */
export function registerAgent(ctx: DecisionContext, entity: Entity, sequence: number): void {
  const { namespace = '', name = '' } = entity.metadata;
  const stored = readResource(ctx.decision, 'entities', namespace, name);
  if (stored === undefined) {
    storeNewEntity(ctx, entity, 'keepalive.received');
    ctx.reviseConfig('entities', entityKey(namespace, name), 'created', []);
    publishRegistration(ctx, entity);
  } else if (isManagedByAgent(entity) ? sequence === FIRST_SEQUENCE : isManagedByAgent(stored)) {
    takeConfig(ctx, configOf(entity), stored);
  } else {
    repairClass(ctx, namespace, name);
  }
}

/** What an agent says at each of its connections mostly is what it said before. */
function takeConfig(ctx: DecisionContext, sent: EntityConfig, stored: EntityConfig): void {
  if (changedFields(stored, sent).length > 0) replaceConfig(ctx, sent, stored);
}

/** An entity with a live agent is of class agent, whatever it was made as. */
export function repairClass(ctx: DecisionContext, namespace: string, name: string): void {
  const stored = readResource(ctx.decision, 'entities', namespace, name);
  if (stored === undefined || stored.entity_class === 'agent') return;
  replaceConfig(ctx, asAgents(stored), stored);
}

/** As the entity of a live agent is stored. */
export const asAgents = <T extends EntityConfig>(config: T): T =>
  withOwnSubscription({ ...config, entity_class: 'agent' });

/** An event that is handled and never stored: an agent came, or left. */
function lifeEvent(ctx: DecisionContext, entity: Entity, name: string, handler: string, output: string): CheckEvent {
  const namespace = entity.metadata.namespace ?? '';
  return {
    ...eventWithDefaults({ timestamp: ctx.nowS, metadata: { namespace } }),
    id: randomUUID(),
    entity,
    check: {
      ...eventCheckWithDefaults({ metadata: { name, namespace }, interval: 1, handlers: [handler] }),
      status: 1,
      output,
    },
  };
}

/** A new agent was seen. Nothing is handled unless a handler named `registration` exists; silences do not count. */
function publishRegistration(ctx: DecisionContext, entity: Entity): void {
  publishEvent(ctx, lifeEvent(ctx, entity, REGISTRATION, REGISTRATION, 'entity registered'));
}

/** An agent that asked for it has left: its events are resolved and deleted, it is gone with its silences, and one event says so, unless it is silenced. */
export function deregister(ctx: DecisionContext, { key }: EntityContext, fallbackHandler: string | undefined): void {
  const entity = ctx.get('events', `${key}/${KEEPALIVE}`)?.event.entity;
  const [namespace = '', name = ''] = key.split('/');
  for (const event of ctx.decision.keys('events', `${key}/`)) resolveEvent(ctx, event);
  removeEntity(ctx, namespace, name);
  const handler = entity?.deregistration.handler ?? fallbackHandler;
  if (entity !== undefined && handler !== undefined) {
    publishEvent(ctx, withSilences(ctx, lifeEvent(ctx, entity, DEREGISTRATION, handler, '')));
  }
  endSilencesOfEntity(ctx, namespace, name, 'entity.deregistered');
}

/** Deletes a stored event and publishes its end; a history of two entries lets incident filters see that something was resolved. */
function resolveEvent(ctx: DecisionContext, key: string): void {
  const record = ctx.get('events', key);
  if (record === undefined) return;
  if (record.ttl !== undefined && !ctx.isQuarantined('check-ttl', key)) {
    ctx.send('check-ttl', key, { type: 'entity.deleted' });
  }
  ctx.delete('events', key);
  ctx.record({ actor: 'check-state', key, from: record.state.state, event: 'entity.deregistered', to: null });
  const stored = eventOf(record);
  const history = [...(stored.check.history ?? []).slice(-1), { status: 0, executed: ctx.nowS }];
  publishEvent(ctx, { ...stored, check: { ...stored.check, status: 0, output: RESOLVED, history } });
}
