import { StoredEvent } from '../records/encoded-event.ts';
import type { EventRecord } from '../records/records.ts';
import type { TransactionalStore } from './transactional-store.ts';

/** Returns the record of a durable event. The event itself, which is most of its bytes, is read only when it is needed. */
export function storedEvent(
  store: Pick<TransactionalStore, 'get' | 'keptOfEvent'>,
  key: string,
): EventRecord | undefined {
  const kept = store.keptOfEvent === undefined ? store.get('events', key) : store.keptOfEvent(key);
  return kept && new StoredEvent(kept, () => wholeEvent(store.get('events', key), key));
}

/** @throws Error if it was deleted meanwhile */
export function wholeEvent(record: EventRecord | null | undefined, key: string): EventRecord {
  if (record === undefined || record === null) throw new Error(`the event ${key} was deleted while it was in use`);
  return record;
}
