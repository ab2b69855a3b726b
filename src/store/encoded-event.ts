import { type CheckEvent, type Event, hasCheck } from '../resources/event.ts';
import { readEvent } from '../wire/protobuf-codec.ts';
import type { ActorSnapshot, EventRecord } from './records.ts';

/**
 * The record of an event that is held as its bytes (protobuf). It is decoded on first use: merging needs only the
 * state, and every garbage collection would copy thousands of decoded events that wait for their transaction.
 */
export class EncodedEvent implements EventRecord {
  readonly state: EventRecord['state'];
  readonly ttl: EventRecord['ttl'];
  readonly encoded: Buffer;
  #event: CheckEvent | undefined;

  constructor(state: EventRecord['state'], ttl: EventRecord['ttl'], encoded: Buffer) {
    this.state = state;
    this.ttl = ttl;
    this.encoded = encoded;
  }

  get event(): CheckEvent {
    this.#event ??= checkEvent(readEvent(this.encoded));
    return this.#event;
  }
}

/** Returns the record with another snapshot of its check TTL. */
export function withTtl(record: EventRecord, ttl: ActorSnapshot | undefined): EventRecord {
  const { state, encoded } = record;
  return encoded === undefined ? { ...record, ttl } : new EncodedEvent(state, ttl, encoded);
}

function checkEvent(event: Event): CheckEvent {
  if (!hasCheck(event)) throw new Error('a stored event must have an entity and a check');
  return event;
}
