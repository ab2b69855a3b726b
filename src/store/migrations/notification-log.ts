import type { Migration, RecordWrite } from './migration.ts';

/** A notification in a store of version 4. */
interface OldNotification {
  id: string;
  atMs: number;
}

const NUMBERS_PER_MS = 1_000;
const DIGITS = 16;

const write = (table: string, key: string, value: unknown): RecordWrite => ({
  table,
  key,
  payload: Buffer.from(JSON.stringify(value)),
});

/** Stores each notification of an event under a number of its own, with the index entries that lead to it. */
export function convertNotifications(key: string, notifications: readonly OldNotification[]): RecordWrite[] {
  const [namespace = '', entity = '', check = ''] = key.split('/');
  const writes: RecordWrite[] = [{ table: 'notifications', key, payload: null }];
  let last = 0;
  for (const notification of notifications) {
    last = Math.max(last + 1, Math.floor(notification.atMs) * NUMBERS_PER_MS);
    const number = String(last).padStart(DIGITS, '0');
    const logKey = `${namespace}/${number}/${entity}/${check}`;
    writes.push(
      write('notificationLog', logKey, notification),
      write('notificationsByEvent', `${key}/${number}`, true),
      write('notificationsById', notification.id, logKey),
    );
  }
  return writes;
}

/** The lists of notifications become a log, with indexes by event and by id. */
export const NOTIFICATION_LOG: Migration = {
  to: 5,
  name: 'log of notifications',
  passes: [
    {
      table: 'notifications',
      writes: ({ key, payload }) =>
        convertNotifications(key, JSON.parse(payload.toString()) as readonly OldNotification[]),
    },
  ],
};
