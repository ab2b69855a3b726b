import { randomUUID } from 'node:crypto';
import { InvalidResource } from '../../resources/errors.ts';
import { assertEvent, type Event, parseEventShape } from '../../resources/event.ts';
import type { EventAddress } from '../../store/encoding/keyspace.ts';
import { assertSameName, assertSameNamespace } from './path-match.ts';

/**
 * Parses an event, fills in names from the path, compares them with the path and validates. Source: spec/02 5.1.
 * @throws InvalidResource
 */
export function parseEvent(body: object, namespace: string, address: EventAddress | undefined): Event {
  const event = parseEventShape(body);
  const { entity, check } = event;
  if (entity !== undefined) {
    fill(entity.metadata, namespace, address?.entity);
    if (entity.entity_class === '') entity.entity_class = 'proxy';
  }
  if (check !== undefined) fill(check.metadata, namespace, address?.check);
  for (const [part, name] of [[entity, address?.entity] as const, [check, address?.check] as const]) {
    if (part === undefined) continue;
    assertSameNamespace(part.metadata.namespace, namespace);
    if (name !== undefined) assertSameName(part.metadata.name, name);
  }
  assertEvent(event);
  // Agents may send events of checks without interval and cron; API clients may not.
  if (check !== undefined && check.interval === 0 && check.cron === undefined) {
    throw new InvalidResource('check is invalid: check interval must be greater than or equal to 1');
  }
  event.id ??= randomUUID();
  return event;
}

type Metadata = Event['metadata'];

/** Fills in missing names in place; the event was just parsed, so nothing else refers to it. */
function fill(metadata: Metadata, namespace: string, name: string | undefined): void {
  metadata.namespace ??= namespace;
  metadata.name ??= name;
}
