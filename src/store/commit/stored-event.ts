import { StoredEvent } from '../records/encoded-event.ts';
import type { KeptEvent } from '../records/kept-events.ts';
import type { EventRecord } from '../records/records.ts';
import type { TransactionalStore } from './transactional-store.ts';

/**
 * Returns the record of a durable event. The event itself, which is most of its bytes, is read only when it is needed. `known` is
 * what is kept beside it, where the caller has it.
 */
export function storedEvent(
  store: Pick<TransactionalStore, 'get' | 'keptOfEvent'>,
  key: string,
  known?: KeptEvent,
): EventRecord | undefined {
  const kept = known ?? (store.keptOfEvent === undefined ? store.get('events', key) : store.keptOfEvent(key));
  if (kept === undefined) return undefined;
  return new StoredEvent(kept, () => {
    const record = store.get('events', key);
    if (record === undefined) throw new Error(`the event ${key} was deleted while it was in use`);
    return record;
  });
}
