import {
  afterPrefix,
  type EventAddress,
  eventKey,
  NOTIFICATION_FLOORS,
  notificationAddress,
  notificationKey,
  notificationOfEventKey,
  NOTIFICATIONS_PER_MS,
  numberOfEventNotification,
} from './encoding/keyspace.ts';
import { type NotificationQuery, NotificationSearch, type NotificationSlice } from './notification-search.ts';
import type { Notification } from './records/records.ts';
import { NotificationReader, type StoredNotification } from './records/stored-notification.ts';
import type { RangeReader } from './commit/transactional-store.ts';
import { WaitingNotifications, type WaitingQuery, type WaitingSlice } from './waiting-notifications.ts';

/** The notifications of an event that are read to find those of one handler. Hardly more are kept of one event. */
const MAX_READ_OF_EVENT = 2_000;

/** The durable notifications. They are kept when their event is deleted. */
export class NotificationStore {
  readonly #store: RangeReader;
  readonly #search: NotificationSearch;
  readonly #waiting: WaitingNotifications;

  constructor(store: RangeReader) {
    this.#store = store;
    this.#search = new NotificationSearch(store);
    this.#waiting = new WaitingNotifications(store);
  }

  /** The next notifications that match, newest first: a bounded number at a time. */
  search(query: NotificationQuery): NotificationSlice {
    return this.#search.slice(query, this.#floor(query.namespace));
  }

  /** The entries of the outbox, newest first: a bounded number of entries at a time. */
  waiting(query: WaitingQuery): WaitingSlice {
    return this.#waiting.slice(query);
  }

  /** The latest notifications of an event, oldest first. */
  ofEvent({ namespace, entity, check }: EventAddress, limit: number): Notification[] {
    const key = eventKey(namespace, entity, check);
    const prefix = `${key}/`;
    const from = notificationOfEventKey(key, this.#floor(namespace) + 1);
    const range = { from, to: afterPrefix(prefix), limit, isReversed: true };
    const numbers = [...this.#store.keys('notificationsByEvent', range)].map(numberOfEventNotification);
    const reader = new NotificationReader(this.#store);
    return numbers.reverse().flatMap((number) => reader.read(notificationKey(key, number))?.notification ?? []);
  }

  /**
   * The notifications of an event with an outcome up to a time, newest first, and those with a later one, oldest first; only those
   * about `handler` if it is given.
   */
  around(
    address: EventAddress,
    atMs: number,
    limit: number,
    handler?: string,
  ): { before: Notification[]; after: Notification[] } {
    const key = eventKey(address.namespace, address.entity, address.check);
    const middle = notificationOfEventKey(key, (Math.floor(atMs) + 1) * NOTIFICATIONS_PER_MS);
    const from = notificationOfEventKey(key, this.#floor(address.namespace) + 1);
    const to = afterPrefix(`${key}/`);
    const reader = new NotificationReader(this.#store);
    const most = handler === undefined ? limit : MAX_READ_OF_EVENT;
    const read = (keys: Iterable<string>): Notification[] => {
      const found: Notification[] = [];
      for (const indexKey of keys) {
        if (found.length === limit) break;
        const logKey = notificationKey(key, numberOfEventNotification(indexKey));
        const notification = reader.read(logKey, handler)?.notification;
        if (notification !== undefined) found.push(notification);
      }
      return found;
    };
    return {
      before: read([...this.#store.keys('notificationsByEvent', { from, to: middle, limit: most, isReversed: true })]),
      after: read([...this.#store.keys('notificationsByEvent', { from: middle, to, limit: most })]),
    };
  }

  /** The latest notification with this id in a namespace. */
  get(namespace: string, id: string): StoredNotification | undefined {
    const key = this.#store.get('notificationsById', id);
    const isOne = key?.startsWith(`${namespace}/`) === true && notificationAddress(key).number > this.#floor(namespace);
    return isOne && key !== undefined ? new NotificationReader(this.#store).read(key) : undefined;
  }

  /** The last number that belongs to an earlier namespace of this name. */
  #floor(namespace: string): number {
    return (this.#store.get('meta', NOTIFICATION_FLOORS + namespace) as number | undefined) ?? 0;
  }
}
