import type { Event } from '../../resources/event.ts';
import { parseEventJson } from '../../wire/exact-json.ts';
import { longText } from './long-text.ts';
import type { OutboxEntry } from './records.ts';
import { type Allocate, allocateSealed, PAYLOAD_AT, sealInPlace, unseal } from '../encoding/sealed.ts';

const LINE_FEED = 0x0a;

/**
 * Returns the stored bytes of an entry: `entry without its event` LF `event`, both JSON. The event may have numbers that
 * `JSON` would round or reject. Its JSON is a parameter, because the entries of its handlers share it.
 */
export function encodeOutboxEntry(outboxEntry: OutboxEntry, eventJson: readonly Buffer[], allocate?: Allocate): Buffer {
  const entry: { -readonly [F in keyof OutboxEntry]?: OutboxEntry[F] } = { ...outboxEntry };
  delete entry.event;
  delete entry.eventBytes;
  const head = Buffer.from(`${JSON.stringify(entry)}\n`);
  const bytes = eventJson.reduce((sum, { length }) => sum + length, head.length);
  const sealed = allocateSealed(bytes, allocate);
  let at = PAYLOAD_AT;
  for (const part of [head, ...eventJson]) {
    part.copy(sealed, at);
    at += part.length;
  }
  return sealInPlace(sealed);
}

/**
 * Returns an entry whose event is parsed at its first use: parsing takes as long as reading 60 MB of JSON, and the caller can
 * yield to other work between them.
 * @throws CorruptRecord
 */
export function decodeOutboxEntry(bytes: Buffer, what: string): OutboxEntry {
  const payload = unseal(bytes, what);
  const end = payload.indexOf(LINE_FEED);
  const entry = JSON.parse(payload.toString('utf8', 0, end)) as Omit<OutboxEntry, 'event'>;
  let event: Event | undefined;
  Object.defineProperty(entry, 'eventBytes', { value: payload.length - end - 1, configurable: true });
  return Object.defineProperty(entry, 'event', {
    get: () => (event ??= parseEventJson(longText(payload.subarray(end + 1))) as Event),
    enumerable: true,
    configurable: true,
  }) as OutboxEntry;
}
