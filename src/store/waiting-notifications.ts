import { eventAddress } from './encoding/keyspace.ts';
import { ifIntact } from './encoding/sealed.ts';
import type { NotificationFilter } from './notification-search.ts';
import type { StoredNotification } from './records/stored-notification.ts';
import type { Attempts, OutboxEntry } from './records/records.ts';
import type { RangeReader } from './commit/transactional-store.ts';

/** Entries of the outbox that a slice reads. Each is read with its event. */
const MAX_SLICE_ENTRIES = 50;
/** Above every key of the outbox. */
const END = '~';

/** A handler that is still to be run with an event. */
export interface WaitingNotification extends Omit<StoredNotification, 'notification'> {
  outboxKey: string;
  entry: OutboxEntry;
  /** The attempts that failed. */
  attempts: Attempts | undefined;
}

export interface WaitingQuery extends NotificationFilter {
  /** The id of the notification. */
  id?: string;
  /** The position before which the slice begins. */
  after?: string;
  limit: number;
}

export interface WaitingSlice {
  /** Newest first. */
  found: WaitingNotification[];
  /** The key of the outbox before which the next slice begins; undefined at the end. */
  position: string | undefined;
}

/** Reads the outbox, newest first, a bounded number of entries at a time. */
export class WaitingNotifications {
  readonly #store: RangeReader;

  constructor(store: RangeReader) {
    this.#store = store;
  }

  slice(filter: WaitingQuery): WaitingSlice {
    const found: WaitingNotification[] = [];
    const range = { from: '', to: filter.after ?? END, limit: MAX_SLICE_ENTRIES, isReversed: true };
    const keys = [...this.#store.keys('outbox', range)];
    let position: string | undefined;
    for (const outboxKey of keys) {
      if (found.length >= filter.limit) return { found, position };
      position = outboxKey;
      // The pipeline reports damaged records.
      const entry = ifIntact(() => this.#store.get('outbox', outboxKey));
      if (entry === undefined || !matches(entry, filter)) continue;
      const { namespace, entity, check } = eventAddress(entry.key);
      const attempts = ifIntact(() => this.#store.get('attempts', outboxKey));
      found.push({ namespace, entity, check, outboxKey, entry, attempts });
    }
    return { found, position: keys.length < MAX_SLICE_ENTRIES ? undefined : position };
  }
}

function matches(entry: OutboxEntry, filter: WaitingQuery): boolean {
  const { entity, check } = eventAddress(entry.key);
  const { sinceMs = -Infinity, untilMs = Infinity } = filter;
  return (
    entry.namespace === filter.namespace &&
    (filter.id ?? entry.notificationId) === entry.notificationId &&
    (filter.entity ?? entity) === entity &&
    (filter.check ?? check) === check &&
    (filter.handler ?? entry.handler) === entry.handler &&
    (filter.pipeline === undefined || filter.pipeline === entry.pipeline) &&
    entry.decidedAtMs >= sinceMs &&
    entry.decidedAtMs <= untilMs
  );
}
