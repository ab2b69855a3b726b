import { type EventAddress, eventKey, notificationAddress } from '../encoding/keyspace.ts';
import type { Notification, OpenStreak } from './records.ts';
import type { TableReader } from './table-reader.ts';

/** A notification, and the event that it is about. */
export interface StoredNotification extends EventAddress {
  notification: Notification;
}

/**
 * Reads notifications as their open streaks continue them, at one moment. It keeps the open streaks of the last event,
 * because the notifications of one event follow each other, and it may have a thousand streaks and megabytes of output.
 */
export class NotificationReader {
  readonly #store: TableReader;
  #lastEvent: string | undefined;
  #streaks: ReadonlyMap<number, OpenStreak> = new Map();

  constructor(store: TableReader) {
    this.#store = store;
  }

  /**
   * Undefined when there is none with this key, or none that is about `handler` if it is given: the streaks of an event are
   * read only for one that is.
   */
  read(key: string, handler?: string): StoredNotification | undefined {
    const notification = this.#store.get('notificationLog', key);
    if (notification === undefined || (handler !== undefined && !isAbout(notification, handler))) return undefined;
    const { number, namespace, entity, check } = notificationAddress(key);
    const address = { namespace, entity, check };
    if (notification.isOpen !== true) return { ...address, notification };
    const open = this.#streaksOf(eventKey(namespace, entity, check)).get(number);
    if (open === undefined) return { ...address, notification };
    return { ...address, notification: { ...notification, count: open.count, atMs: open.atMs } };
  }

  #streaksOf(event: string): ReadonlyMap<number, OpenStreak> {
    if (event !== this.#lastEvent) {
      this.#lastEvent = event;
      this.#streaks = new Map(openStreaks(this.#store, event).map((streak) => [streak.number, streak]));
    }
    return this.#streaks;
  }
}

/** Whether a notification is about a handler, alone or with others. */
const isAbout = ({ handler, others }: Notification, name: string): boolean =>
  handler === name || others?.includes(name) === true;

/** Those of an event are in its record, or apart; those of an earlier event of the key can remain apart. */
function openStreaks(store: TableReader, key: string): readonly OpenStreak[] {
  const known = store.get('events', key)?.streaks ?? [];
  const apart = store.get('openStreaks', key) ?? [];
  return known === 'apart' ? apart : [...known, ...apart];
}
