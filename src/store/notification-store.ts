import {
  afterPrefix,
  type EventAddress,
  eventKey,
  notificationAddress,
  notificationKey,
  notificationOfEventKey,
  NOTIFICATIONS_PER_MS,
  numberOfEventNotification,
} from './keyspace.ts';
import type { Notification, OpenStreak } from './records.ts';
import type { RangeReader } from './transactional-store.ts';

/** A notification, and the event that it is about. */
export interface StoredNotification extends EventAddress {
  notification: Notification;
}

/** The durable notifications. They are kept when their event is deleted. */
export class NotificationStore {
  readonly #store: RangeReader;

  constructor(store: RangeReader) {
    this.#store = store;
  }

  /** The latest notifications of an event, oldest first. */
  ofEvent({ namespace, entity, check }: EventAddress, limit: number): Notification[] {
    const key = eventKey(namespace, entity, check);
    const prefix = `${key}/`;
    const range = { from: prefix, to: afterPrefix(prefix), limit, isReversed: true };
    const numbers = [...this.#store.keys('notificationsByEvent', range)].map(numberOfEventNotification);
    return numbers.reverse().flatMap((number) => this.#read(notificationKey(key, number))?.notification ?? []);
  }

  /** The notifications of an event with an outcome up to a time, newest first, and those with a later one, oldest first. */
  around(address: EventAddress, atMs: number, limit: number): { before: Notification[]; after: Notification[] } {
    const key = eventKey(address.namespace, address.entity, address.check);
    const middle = notificationOfEventKey(key, (Math.floor(atMs) + 1) * NOTIFICATIONS_PER_MS);
    const [from, to] = [`${key}/`, afterPrefix(`${key}/`)];
    const read = (keys: Iterable<string>): Notification[] =>
      [...keys].flatMap((indexKey) => {
        const logKey = notificationKey(key, numberOfEventNotification(indexKey));
        return this.#read(logKey)?.notification ?? [];
      });
    return {
      before: read(this.#store.keys('notificationsByEvent', { from, to: middle, limit, isReversed: true })),
      after: read(this.#store.keys('notificationsByEvent', { from: middle, to, limit })),
    };
  }

  /** The latest notification with this id in a namespace. */
  get(namespace: string, id: string): StoredNotification | undefined {
    const key = this.#store.get('notificationsById', id);
    return key?.startsWith(`${namespace}/`) === true ? this.#read(key) : undefined;
  }

  #read(key: string): StoredNotification | undefined {
    const notification = this.#store.get('notificationLog', key);
    return notification === undefined ? undefined : this.current(key, notification);
  }

  /** A notification as its open streak continues it. */
  current(key: string, notification: Notification): StoredNotification {
    const { number, namespace, entity, check } = notificationAddress(key);
    const address = { namespace, entity, check };
    if (notification.isOpen !== true) return { ...address, notification };
    const streak = this.#openStreaks(eventKey(namespace, entity, check)).find((open) => open.number === number);
    if (streak === undefined) return { ...address, notification };
    return { ...address, notification: { ...notification, count: streak.count, atMs: streak.atMs } };
  }

  /** Those of an event are in its record, or apart; those of an earlier event of the key can remain apart. */
  #openStreaks(key: string): readonly OpenStreak[] {
    const known = this.#store.get('events', key)?.streaks ?? [];
    const apart = this.#store.get('openStreaks', key) ?? [];
    return known === 'apart' ? apart : [...known, ...apart];
  }
}
