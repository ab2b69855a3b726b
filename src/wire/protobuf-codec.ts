import type { EntityConfig } from '../resources/entity.ts';
import { assertEvent, type Event } from '../resources/event.ts';
import { listOrNull } from '../resources/schema.ts';
import { type CheckRequest, requestWithoutCheck } from './check-request.ts';
import type { LastEntity } from './last-entity.ts';
import { checkRequestMessage, entityConfigMessage, eventMessage } from './protobuf-messages.ts';
import { ProtobufReader } from './protobuf-reader.ts';
import { RECEIVED } from './reader-bounds.ts';
import { writeMessage } from './protobuf-writer.ts';

/**
 * Decodes to the same event as its JSON form. The entity is frozen if it is that of the last event of the same sender.
 * @throws InvalidResource for a malformed, invalid or too expensive event
 */
export function decodeEvent(payload: Buffer, last?: LastEntity): Event {
  const reader = new ProtobufReader(payload, RECEIVED, last);
  const event = readWith(reader);
  assertEvent(event, last?.isValid(event.entity));
  if (reader.readEntity !== undefined) last?.keep(reader.readEntity);
  return event;
}

/** Decodes a payload that was validated before, perhaps with other bounds. @throws InvalidResource for a malformed event */
export const readEvent = (payload: Buffer): Event => readWith(new ProtobufReader(payload));

function readWith(reader: ProtobufReader): Event {
  const event = reader.read(eventMessage);
  removeNonFinite(event);
  return event;
}

/** @throws InvalidResource */
export function decodeEntityConfig(payload: Buffer): EntityConfig {
  return new ProtobufReader(payload).read(entityConfigMessage);
}

/**
 * Validates the shape only, because the agent reports an invalid check with an event.
 * @throws InvalidResource without a `config`
 */
export function decodeCheckRequest(payload: Buffer): CheckRequest {
  const request = new ProtobufReader(payload).read(checkRequestMessage);
  const { config } = request;
  if (config === undefined) throw requestWithoutCheck();
  return { ...request, config };
}

export const encodeEvent = (event: Event): Buffer => writeMessage(eventMessage, event);

export const encodeEntityConfig = (config: EntityConfig): Buffer => writeMessage(entityConfigMessage, config);

export const encodeCheckRequest = (request: CheckRequest): Buffer => writeMessage(checkRequestMessage, request);

/** Removes points and durations that are NaN or infinite, which neither JSON nor the store can represent. */
function removeNonFinite({ check, metrics }: Event): void {
  if (check?.duration !== undefined) check.duration = finiteOrAbsent(check.duration);
  for (const hook of check?.hooks ?? []) hook.duration = finiteOrAbsent(hook.duration);
  if (metrics?.points?.some(({ value }) => !Number.isFinite(value))) {
    metrics.points = listOrNull(metrics.points.filter(({ value }) => Number.isFinite(value)));
  }
}

const finiteOrAbsent = (value: number | undefined): number | undefined =>
  value !== undefined && value !== 0 && Number.isFinite(value) ? value : undefined;
