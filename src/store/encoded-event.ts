import { type CheckEvent, type Event, hasCheck } from '../resources/event.ts';
import { readEvent } from '../wire/protobuf-codec.ts';
import type { ActorSnapshot, EventRecord, OpenStreaks } from './records.ts';

/**
 * The record of an event that is held as its bytes (protobuf). It is decoded on first use: merging needs only the
 * state, and every garbage collection would copy thousands of decoded events that wait for their transaction.
 */
export class EncodedEvent implements EventRecord {
  readonly state: EventRecord['state'];
  readonly ttl: EventRecord['ttl'];
  readonly ran: EventRecord['ran'];
  readonly encoded: Buffer;
  readonly streaks: EventRecord['streaks'];
  #event: CheckEvent | undefined;

  constructor({ state, ttl, ran, streaks }: Pick<EventRecord, 'state' | 'ttl' | 'ran' | 'streaks'>, encoded: Buffer) {
    this.state = state;
    this.ttl = ttl;
    this.ran = ran;
    this.encoded = encoded;
    this.streaks = streaks;
  }

  get event(): CheckEvent {
    this.#event ??= checkEvent(readEvent(this.encoded));
    return this.#event;
  }
}

/** Returns the record with another snapshot of its check TTL. */
export function withTtl(record: EventRecord, ttl: ActorSnapshot | undefined): EventRecord {
  const { encoded } = record;
  return encoded === undefined ? { ...record, ttl } : new EncodedEvent({ ...keptOf(record), ttl }, encoded);
}

/** Returns the record with other open streaks of its handlers. */
export function withStreaks(record: EventRecord, streaks: OpenStreaks): EventRecord {
  const { encoded } = record;
  return encoded === undefined ? { ...record, streaks } : new EncodedEvent({ ...keptOf(record), streaks }, encoded);
}

const keptOf = ({ state, ttl, ran, streaks }: EventRecord) => ({ state, ttl, ran, streaks });

function checkEvent(event: Event): CheckEvent {
  if (!hasCheck(event)) throw new Error('a stored event must have an entity and a check');
  return event;
}
