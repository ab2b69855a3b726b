import { type EventAddress, eventKey, notificationAddress } from '../encoding/keyspace.ts';
import type { Notification, OpenStreak } from './records.ts';
import type { TableReader } from './table-reader.ts';

/** A notification, and the event that it is about. */
export interface StoredNotification extends EventAddress {
  notification: Notification;
}

/**
 * Reads a notification as its open streak continues it. Undefined when there is none with this key, or none that is about
 * `handler` if it is given: the streaks of an event, which may be many, are read only for one that is.
 */
export function readNotification(store: TableReader, key: string, handler?: string): StoredNotification | undefined {
  const notification = store.get('notificationLog', key);
  if (notification === undefined || (handler !== undefined && !isAbout(notification, handler))) return undefined;
  const { number, namespace, entity, check } = notificationAddress(key);
  const address = { namespace, entity, check };
  if (notification.isOpen !== true) return { ...address, notification };
  const open = openStreaks(store, eventKey(namespace, entity, check)).find((streak) => streak.number === number);
  if (open === undefined) return { ...address, notification };
  return { ...address, notification: { ...notification, count: open.count, atMs: open.atMs } };
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
