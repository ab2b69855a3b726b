import { type CheckEvent, type Event, hasCheck } from '../../resources/event.ts';
import { lastAlone } from '../../rules/check-history.ts';
import { readEvent } from '../../wire/protobuf-codec.ts';
import type { ActorSnapshot, EventRecord, OpenStreaks } from './records.ts';

/** The members of a record beside its event. */
export type KeptBeside = Pick<EventRecord, 'state' | 'ttl' | 'ran' | 'streaks' | 'aggregates' | 'attributes'>;

/** A record that holds what is kept beside its event as one object, which other records and caches share. */
abstract class KeptRecord<T extends Omit<KeptBeside, 'attributes'>> {
  readonly kept: T;

  constructor(kept: T) {
    this.kept = kept;
  }

  get state(): EventRecord['state'] {
    return this.kept.state;
  }

  get ttl(): EventRecord['ttl'] {
    return this.kept.ttl;
  }

  get ran(): EventRecord['ran'] {
    return this.kept.ran;
  }

  get streaks(): EventRecord['streaks'] {
    return this.kept.streaks;
  }

  get aggregates(): EventRecord['aggregates'] {
    return this.kept.aggregates;
  }
}

/**
 * The record of an event that is held as its bytes (protobuf). It is decoded on first use: merging needs only the
 * state, and every garbage collection would copy thousands of decoded events that wait for their transaction.
 */
export class EncodedEvent extends KeptRecord<KeptBeside> implements EventRecord {
  readonly encoded: Buffer;
  #event: CheckEvent | undefined;

  constructor(kept: KeptBeside, encoded: Buffer) {
    super(kept);
    this.encoded = encoded;
  }

  get attributes(): EventRecord['attributes'] {
    return this.kept.attributes;
  }

  get event(): CheckEvent {
    this.#event ??= withAttributes(checkEvent(readEvent(this.encoded)), this.attributes);
    return this.#event;
  }
}

/** A record whose event is read from the store at its first use. Valid until the next transaction ends. */
export class StoredEvent extends KeptRecord<Omit<KeptBeside, 'attributes'>> implements EventRecord {
  readonly #read: () => EventRecord;
  #whole: EventRecord | undefined;

  constructor(kept: Omit<KeptBeside, 'attributes'>, read: () => EventRecord) {
    super(kept);
    this.#read = read;
  }

  get event(): CheckEvent {
    return this.#wholeRecord().event;
  }

  get encoded(): Buffer | undefined {
    return this.#wholeRecord().encoded;
  }

  get attributes(): EventRecord['attributes'] {
    return this.#wholeRecord().attributes;
  }

  #wholeRecord(): EventRecord {
    return (this.#whole ??= this.#read());
  }
}

/** Returns what the store keeps of a record beside its event. */
export function keptOf(record: EventRecord): KeptBeside {
  if (record instanceof EncodedEvent) return record.kept;
  const { state, ttl, ran, streaks, aggregates, attributes } = record;
  return { state, ttl, ran, streaks, aggregates, attributes };
}

/** Returns the record with another snapshot of its check TTL. */
export const withTtl = (record: EventRecord, ttl: ActorSnapshot | undefined): EventRecord =>
  withKept(record, { ...keptOf(record), ttl });

/** Returns the record with other open streaks of its handlers. */
export const withStreaks = (record: EventRecord, streaks: OpenStreaks): EventRecord =>
  withKept(record, { ...keptOf(record), streaks });

/** Returns the record with other aggregates that its result has joined. */
export const withAggregates = (record: EventRecord, aggregates: readonly string[] | undefined): EventRecord =>
  withKept(record, { ...keptOf(record), aggregates });

/** Returns the record with only the last result in its history, and in no aggregate. */
export function withoutHistory(record: EventRecord): EventRecord {
  const { state } = record;
  const history = lastAlone(state.history);
  const kept = { state: { ...state, history, totalStateChange: 0 }, aggregates: undefined };
  return withKept(record, Object.assign(keptOf(record), kept));
}

function withKept(record: EventRecord, kept: KeptBeside): EventRecord {
  const { encoded } = record;
  return encoded === undefined ? decodedRecord(kept, record.event) : new EncodedEvent(kept, encoded);
}

/** Returns the record of an event that is not encoded yet. V8 takes forty times as long for `{ ...kept, event }`. */
export function decodedRecord(
  { state, ttl, ran, streaks, aggregates, attributes }: KeptBeside,
  event: CheckEvent,
): EventRecord {
  return { state, ttl, ran, streaks, aggregates, attributes, event };
}

/** Adds the attributes to an event that was just decoded. */
function withAttributes(event: CheckEvent, attributes: EventRecord['attributes']): CheckEvent {
  if (attributes !== undefined) Object.assign(event.check, attributes);
  return event;
}

function checkEvent(event: Event): CheckEvent {
  if (!hasCheck(event)) throw new Error('a stored event must have an entity and a check');
  return event;
}
