import { randomUUID } from 'node:crypto';
import type { EntityContext } from '../../machines/entity.ts';
import { configOf, type Entity, type EntityConfig, withOwnSubscription } from '../../resources/entity.ts';
import { isManagedByAgent } from '../../resources/entity-manager.ts';
import { type CheckEvent, eventCheckWithDefaults, eventWithDefaults } from '../../resources/event.ts';
import { entityKey, eventKey } from '../../store/encoding/keyspace.ts';
import { readResource } from '../../store/resource-store.ts';
import { changedFields } from '../core/changed-fields.ts';
import { deleteEvents } from '../events/deletions.ts';
import { KEEPALIVE } from '../events/merge-event.ts';
import { recordSkipped } from '../events/notification-records.ts';
import { changeStreaks } from '../events/open-streaks.ts';
import { publishEvent } from '../events/publish.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import { endSilencesOfEntity, withSilences } from '../events/silences.ts';
import { putEntityRecord, removeEntity, replaceConfig, storeNewEntity } from '../entities/stored-entities.ts';

const REGISTRATION = 'registration';
const DEREGISTRATION = 'deregistration';
/** The first keepalive of a connection carries it. */
const FIRST_SEQUENCE = 1;

/**
 * Registers the agent of a keepalive: creates its entity if it is new, and stores the configuration of an entity that its agent manages.
 * @throws EntityLimitReached
 */
export function registerAgent(ctx: DecisionContext, entity: Entity, sequence: number): void {
  const { namespace = '', name = '' } = entity.metadata;
  const stored = readResource(ctx.decision, 'entities', namespace, name);
  if (stored === undefined) {
    storeNewEntity(ctx, entity, 'keepalive.received');
    ctx.reviseConfig('entities', entityKey(namespace, name), 'created', []);
    ctx.announce({ type: 'entity.registered', namespace, name });
    publishRegistration(ctx, entity);
  } else if (isManagedByAgent(entity) ? sequence === FIRST_SEQUENCE : isManagedByAgent(stored)) {
    takeConfig(ctx, configOf(entity), stored);
  } else {
    repairClass(ctx, namespace, name);
  }
}

/** Stores the configuration that an agent sent, if it differs from the stored one. */
function takeConfig(ctx: DecisionContext, sent: EntityConfig, stored: EntityConfig): void {
  if (changedFields(stored, sent).length > 0) replaceConfig(ctx, sent, stored);
}

/** Sets the class of an entity with a connected agent to `agent`. */
export function repairClass(ctx: DecisionContext, namespace: string, name: string): void {
  const stored = readResource(ctx.decision, 'entities', namespace, name);
  if (stored === undefined || stored.entity_class === 'agent') return;
  replaceConfig(ctx, asAgents(stored), stored);
}

/** Returns the configuration as stored for a connected agent: of class `agent`, with its own subscription. */
export const asAgents = <T extends EntityConfig>(config: T): T =>
  withOwnSubscription({ ...config, entity_class: 'agent' });

/** Builds the event of an agent's registration or deregistration, which is handled and never stored. */
function agentEvent(ctx: DecisionContext, entity: Entity, name: string, handler: string, output: string): CheckEvent {
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

/** Publishes the registration of a new agent to the handler named `registration`, which need not exist. Silences do not apply. */
function publishRegistration(ctx: DecisionContext, entity: Entity): void {
  const { namespace = '', name = '' } = entity.metadata;
  if (readResource(ctx.decision, 'handlers', namespace, REGISTRATION) === undefined) {
    changeStreaks(ctx, eventKey(namespace, name, REGISTRATION), (streaks) => {
      recordSkipped(ctx, streaks, { handler: REGISTRATION }, 'handler does not exist');
    });
    return;
  }
  publishEvent(ctx, agentEvent(ctx, entity, REGISTRATION, REGISTRATION, 'entity registered'));
}

/** Handles the announcement of an agent that it stops. Its entity is deleted soon if it asks for that; otherwise nothing changes. */
export function announceStop(ctx: DecisionContext, namespace: string, name: string): void {
  const key = entityKey(namespace, name);
  const record = ctx.get('entities', key);
  const deregister = readResource(ctx.decision, 'entities', namespace, name)?.deregister ?? false;
  if (record === undefined || ctx.isQuarantined('entity', key)) return;
  ctx.record({ actor: 'agent', key, from: null, event: 'stop.announced', to: null, details: { deregister } });
  const sent = ctx.send('entity', key, { type: 'stop.announced', atMs: ctx.steadyMs, deregister });
  if (sent?.snapshot !== undefined) putEntityRecord(ctx, key, { ...record, actor: sent.snapshot }, record);
}

/** Deregisters an entity that asked for it: resolves and deletes its events, deletes the entity and its silences, and publishes one event, unless that is silenced. */
export function deregister(ctx: DecisionContext, { key }: EntityContext, fallbackHandler: string | undefined): void {
  const entity = ctx.get('events', `${key}/${KEEPALIVE}`)?.event.entity;
  const [namespace = '', name = ''] = key.split('/');
  deleteEvents(ctx, `${key}/`, 'entity.deregistered');
  removeEntity(ctx, namespace, name);
  const handler = entity?.deregistration.handler ?? fallbackHandler;
  if (entity !== undefined && handler !== undefined) {
    publishEvent(ctx, withSilences(ctx, agentEvent(ctx, entity, DEREGISTRATION, handler, '')));
  }
  endSilencesOfEntity(ctx, namespace, name, 'entity.deregistered');
}
