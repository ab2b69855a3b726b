import { randomUUID } from 'node:crypto';
import type { Entity } from '../resources/entity.ts';
import { InvalidResource } from '../resources/errors.ts';
import { assertEvent, type Event } from '../resources/event.ts';

/** The values that complete an event of a local client. */
export interface PostedEventContext {
  /** The agent's own entity. */
  readonly entity: Entity;
  /** Unix seconds. */
  readonly nowS: number;
}

/**
 * Completes and validates an event that a local client sent, whose shape is valid. The entity of the event becomes the agent's; the
 * name of another entity moves to `check.proxy_entity_name`, which the backend validates. Source: spec/03 6.1.
 *
 * @throws InvalidResource with the text of the reference
 */
export function completePostedEvent(event: Event, { entity, nowS }: PostedEventContext): Event {
  const { check, metrics } = event;
  if (check === undefined && metrics === undefined) {
    throw new InvalidResource('at least check or metrics need to be instantiated for this event');
  }
  const { name: ownName = '', namespace } = entity.metadata;
  const completed: Event = {
    ...event,
    metadata: { ...event.metadata, namespace: event.metadata.namespace ?? namespace },
    timestamp: event.timestamp === 0 ? nowS : event.timestamp,
    id: event.id ?? randomUUID(),
    check: check && {
      ...check,
      metadata: { ...check.metadata, namespace: check.metadata.namespace ?? namespace },
      interval: check.interval === 0 ? 1 : check.interval,
      executed: check.executed === 0 ? nowS : check.executed,
      processed_by: ownName,
    },
    entity,
  };
  assertPosted(completed);
  const otherName = otherNameOf(event, ownName);
  if (otherName !== undefined && completed.check !== undefined) completed.check.proxy_entity_name = otherName;
  return completed;
}

/** The errors of a posted check have no prefix. */
function assertPosted(event: Event): void {
  try {
    assertEvent(event);
  } catch (error) {
    if (!(error instanceof InvalidResource)) throw error;
    throw new InvalidResource(error.message.replace(/^check is invalid: /, ''), { cause: error });
  }
}

function otherNameOf({ entity }: Event, ownName: string): string | undefined {
  const name = entity?.metadata.name ?? '';
  return name === '' || name === ownName ? undefined : name;
}
