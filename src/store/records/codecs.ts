import { Packr } from 'msgpackr';
import { type AggregateAttributes, aggregateAttributesOf } from '../../resources/aggregate-attributes.ts';
import { executedTimes, historyWith } from '../../rules/check-history.ts';
import type { CheckStateName } from '../../rules/check-state.ts';
import { encodeJson } from '../../wire/json-codec.ts';
import { encodeEvent } from '../../wire/protobuf-codec.ts';
import { EncodedEvent, type KeptBeside } from './encoded-event.ts';
import { decodeOutboxEntry, encodeOutboxEntry } from './outbox-entry.ts';
import type {
  EventRecord,
  OpenStreak,
  OpenStreaks,
  OutboxEntry,
  RanTicks,
  StreakOutcome,
  TableName,
  Tables,
} from './records.ts';
import { StateWriter } from './state-writer.ts';
import { type Allocate, PAYLOAD_AT, allocateSealed, sealInPlace, sealText, unseal } from '../encoding/sealed.ts';

interface Codec<V> {
  /** In memory of its own, unless `allocate` gives it some. */
  encode(value: V, allocate?: Allocate): Buffer;
  decode(bytes: Buffer, what: string): V;
}

const LENGTH_BYTES = 4;

const packr = new Packr({ useRecords: false });
const stateWriter = new StateWriter();

const json = <V>(): Codec<V> => ({
  encode: (value, allocate) => sealText(JSON.stringify(value), allocate),
  decode: (bytes, what) => JSON.parse(unseal(bytes, what).toString()) as V,
});

type PackedStreak = [
  number: number,
  handler: string,
  outcome: StreakOutcome,
  reason: string,
  count: number,
  atMs: number,
  pipeline?: string | null,
  workflow?: string | null,
  nth?: number | null,
  others?: number,
];

function packStreak(streak: OpenStreak): PackedStreak {
  const { number, handler, outcome, reason, count, atMs, pipeline, workflow, nth, others } = streak;
  const packed: PackedStreak = [number, handler, outcome, reason, count, atMs];
  if ((pipeline ?? workflow ?? others) !== undefined) packed.push(pipeline, workflow);
  if ((nth ?? others) !== undefined) packed.push(nth);
  if (others !== undefined) packed.push(others);
  return packed;
}

function unpackStreak([number, handler, outcome, reason, count, atMs, ...names]: PackedStreak): OpenStreak {
  const streak = { number, handler, outcome, reason, count, atMs };
  if (names.length === 0) return streak;
  const [pipeline, workflow, nth, others] = names;
  return {
    ...streak,
    pipeline: pipeline ?? undefined,
    workflow: workflow ?? undefined,
    ...(nth && { nth }),
    ...(others && { others }),
  };
}

const packStreaks = (streaks: OpenStreaks): PackedStreak[] | 'apart' =>
  streaks === 'apart' ? streaks : streaks.map(packStreak);

const unpackStreaks = (packed: PackedStreak[] | 'apart'): OpenStreaks =>
  packed === 'apart' ? packed : packed.map(unpackStreak);

/** The fields of an event that the backend owns, packed as a list; the history as two lists. */
type PackedState = [
  statuses: readonly number[],
  executed: number[],
  occurrences: number,
  watermark: number,
  state: CheckStateName,
  totalStateChange: number,
  lastOk: number,
  silenced: string[],
  ttl: EventRecord['ttl'] | null,
  /** The streaks of handlers; `null` where there are none and a later member follows. */
  streaks?: PackedStreak[] | 'apart' | null,
  /** Absent where no tick has run; `null` where a later member follows. */
  ran?: RanTicks | null,
  aggregates?: readonly string[] | null,
  /** The attributes of the event for which protobuf has no fields. */
  attributes?: AggregateAttributes,
];

/** Appends the members that are set, with `null` for those that are not and stand before one. Most records have none of them. */
function appendOptional(packed: PackedState, record: EventRecord): void {
  const { streaks, ran, aggregates } = record;
  const attributes = record.encoded === undefined ? aggregateAttributesOf(record.event.check) : record.attributes;
  const hasStreaks = streaks !== undefined && streaks.length > 0;
  const count =
    attributes !== undefined ? 4 : aggregates !== undefined ? 3 : ran !== undefined ? 2 : hasStreaks ? 1 : 0;
  if (count > 0) packed.push(hasStreaks ? packStreaks(streaks) : null);
  if (count > 1) packed.push(ran ?? null);
  if (count > 2) packed.push(aggregates ?? null);
  if (count > 3) packed.push(attributes);
}

function unpack(packed: PackedState): KeptBeside {
  const [
    statuses,
    executed,
    occurrences,
    occurrencesWatermark,
    state,
    totalStateChange,
    lastOk,
    silenced,
    ttl,
    streaks,
    ran,
    aggregates,
    attributes,
  ] = packed;
  const history = historyWith(statuses, executed);
  const merged = { history, occurrences, occurrencesWatermark, state, totalStateChange, lastOk, silenced };
  const open = streaks === undefined || streaks === null ? undefined : unpackStreaks(streaks);
  return {
    state: merged,
    ttl: ttl ?? undefined,
    ran: ran ?? undefined,
    streaks: open,
    aggregates: aggregates ?? undefined,
    attributes,
  };
}

/** Reads what is stored beside an event. */
export function decodeKept(bytes: Buffer, what: string): KeptBeside {
  const payload = unseal(bytes, what);
  return unpack(packr.unpack(payload.subarray(LENGTH_BYTES, LENGTH_BYTES + payload.readUInt32LE(0))) as PackedState);
}

/** `state length (uint32) | state | event`, with the event in protobuf: the agent's own bytes where they were kept. */
const eventCodec: Codec<EventRecord> = {
  encode(record, allocate) {
    const { state, ttl } = record;
    // Reading `record.event` would decode a record that is held as its bytes.
    const encoded = record.encoded ?? encodeEvent(record.event);
    const packed: PackedState = [
      state.history.statuses,
      executedTimes(state.history),
      state.occurrences,
      state.occurrencesWatermark,
      state.state,
      state.totalStateChange,
      state.lastOk,
      state.silenced,
      ttl ?? null,
    ];
    appendOptional(packed, record);
    const stateBytes = stateWriter.write(packed);
    const buffer = allocateSealed(LENGTH_BYTES + stateBytes.length + encoded.length, allocate);
    buffer.writeUInt32LE(stateBytes.length, PAYLOAD_AT);
    const stateAt = PAYLOAD_AT + LENGTH_BYTES;
    stateBytes.copy(buffer, stateAt);
    encoded.copy(buffer, stateAt + stateBytes.length);
    return sealInPlace(buffer);
  },
  decode(bytes, what) {
    const payload = unseal(bytes, what);
    const eventAt = LENGTH_BYTES + payload.readUInt32LE(0);
    const kept = unpack(packr.unpack(payload.subarray(LENGTH_BYTES, eventAt)) as PackedState);
    return new EncodedEvent(kept, payload.subarray(eventAt));
  },
};

const outboxCodec: Codec<OutboxEntry> = {
  encode: (entry, allocate) => encodeOutboxEntry(entry, [Buffer.from(encodeJson(entry.event))], allocate),
  decode: decodeOutboxEntry,
};

/** The codec of each table. */
export const CODECS: { [T in TableName]: Codec<Tables[T]> } = {
  events: eventCodec,
  entities: json(),
  resources: json(),
  sessions: json(),
  agentQueues: json(),
  outbox: outboxCodec,
  attempts: json(),
  notificationLog: json(),
  notificationsByEvent: json(),
  notificationsById: json(),
  openStreaks: json(),
  deadLetters: outboxCodec,
  deletions: json(),
  renewals: json(),
  ticks: json(),
  incidents: json(),
  meta: json(),
};
