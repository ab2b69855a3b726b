import { randomUUID } from 'node:crypto';
import type { EntityContext } from '../machines/entity.ts';
import type { Entity } from '../resources/entity.ts';
import { type CheckEvent, eventCheckWithDefaults, eventWithDefaults } from '../resources/event.ts';
import { eventOf } from '../store/records.ts';
import { resourceKey } from '../store/keyspace.ts';
import { KEEPALIVE } from './merge-event.ts';
import { publishEvent } from './publish.ts';
import type { Scope } from './scope.ts';
import { endSilencesOfEntity, withSilences } from './silences.ts';

const REGISTRATION = 'registration';
const DEREGISTRATION = 'deregistration';
const RESOLVED = 'Resolving due to entity deregistering';

/** An event that is handled and never stored: an agent came, or left. */
function lifeEvent(scope: Scope, entity: Entity, name: string, handler: string, output: string): CheckEvent {
  const namespace = entity.metadata.namespace ?? '';
  return {
    ...eventWithDefaults({ timestamp: scope.nowS, metadata: { namespace } }),
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
export function publishRegistration(scope: Scope, entity: Entity): void {
  publishEvent(scope, lifeEvent(scope, entity, REGISTRATION, REGISTRATION, 'entity registered'));
}

/** An agent that asked for it has left: its events are resolved and deleted, it is gone with its silences, and one event says so, unless it is silenced. */
export function deregister(scope: Scope, { key }: EntityContext, fallbackHandler: string | undefined): void {
  const entity = scope.get('events', `${key}/${KEEPALIVE}`)?.event.entity;
  const [namespace = '', name = ''] = key.split('/');
  for (const event of scope.decision.keys('events', `${key}/`)) resolveEvent(scope, event);
  scope.delete('entities', key);
  scope.delete('resources', resourceKey('entities', namespace, name));
  scope.announce({ type: 'entity.deleted', namespace, name });
  scope.reviseConfig('entities', key, 'deleted', []);
  const handler = entity?.deregistration.handler ?? fallbackHandler;
  if (entity !== undefined && handler !== undefined) {
    publishEvent(scope, withSilences(scope, lifeEvent(scope, entity, DEREGISTRATION, handler, '')));
  }
  endSilencesOfEntity(scope, namespace, name, 'entity.deregistered');
}

/** Deletes a stored event and publishes its end; a history of two entries lets incident filters see that something was resolved. */
function resolveEvent(scope: Scope, key: string): void {
  const record = scope.get('events', key);
  if (record === undefined) return;
  if (record.ttl !== undefined && !scope.isQuarantined('check-ttl', key)) {
    scope.send('check-ttl', key, { type: 'entity.deleted' });
  }
  scope.delete('events', key);
  scope.record({ actor: 'check-state', key, from: record.state.state, event: 'entity.deregistered', to: null });
  const stored = eventOf(record);
  const last = record.state.history.at(-1);
  const history = [...(last === undefined ? [] : [last]), { status: 0, executed: scope.nowS }];
  publishEvent(scope, { ...stored, check: { ...stored.check, status: 0, output: RESOLVED, history } });
}
