import { type EventAddress, eventKey, notificationAddress } from '../encoding/keyspace.ts';
import type { Notification, OpenStreak } from './records.ts';
import type { TableReader } from './table-reader.ts';

/** A notification, and the event that it is about. */
export interface StoredNotification extends EventAddress {
  notification: Notification;
}

/** Reads a notification as its open streak continues it. Undefined when there is none with this key. */
export function readNotification(store: TableReader, key: string): StoredNotification | undefined {
  const notification = store.get('notificationLog', key);
  if (notification === undefined) return undefined;
  const { number, namespace, entity, check } = notificationAddress(key);
  const address = { namespace, entity, check };
  if (notification.isOpen !== true) return { ...address, notification };
  const open = openStreaks(store, eventKey(namespace, entity, check)).find((streak) => streak.number === number);
  if (open === undefined) return { ...address, notification };
  return { ...address, notification: { ...notification, count: open.count, atMs: open.atMs } };
}

/** Those of an event are in its record, or apart; those of an earlier event of the key can remain apart. */
function openStreaks(store: TableReader, key: string): readonly OpenStreak[] {
  const known = store.get('events', key)?.streaks ?? [];
  const apart = store.get('openStreaks', key) ?? [];
  return known === 'apart' ? apart : [...known, ...apart];
}
