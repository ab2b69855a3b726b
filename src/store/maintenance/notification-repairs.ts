import {
  deadLetterKey,
  eventKey,
  eventOfNotification,
  notificationAddress,
  notificationKey,
  notificationOfEventKey,
  numberOfEventNotification,
} from '../encoding/keyspace.ts';
import { ifIntact } from '../encoding/sealed.ts';
import type { RawStore } from '../lmdb/raw-store.ts';
import type { RecordWrite } from '../migrations/migration.ts';
import { CODECS } from '../records/codecs.ts';
import type { TableName, Tables } from '../records/records.ts';
import { put, remove } from './record-writes.ts';

/** Returns the keys of the damaged records of a table. */
export type DamagedKeys = (table: TableName) => ReadonlySet<string>;

/**
 * Returns the writes that make the tables of notifications consistent after their damaged records are removed: they restore the index
 * entries of intact notifications, and remove what belongs to a removed notification.
 */
export function notificationRepairs(store: RawStore, damaged: DamagedKeys): RecordWrite[] {
  const [logKeys, ids, letterKeys] = [damaged('notificationLog'), damaged('notificationsById'), damaged('deadLetters')];
  return [
    ...withoutIndex(logKeys),
    ...(logKeys.size > 0 ? withoutIds(store, logKeys) : []),
    ...(ids.size > 0 ? restoredIds(store, ids) : []),
    ...restoredIndex(damaged('notificationsByEvent'), logKeys),
    ...(letterKeys.size > 0 ? withoutLetters(store, letterKeys) : []),
  ];
}

/** Removes the entries of the index by event. */
const withoutIndex = (logKeys: ReadonlySet<string>): RecordWrite[] =>
  [...logKeys].map((logKey) => {
    const { namespace, entity, check, number } = notificationAddress(logKey);
    return remove('notificationsByEvent', notificationOfEventKey(eventKey(namespace, entity, check), number));
  });

/** Removes the ids of notifications, and their dead letters. */
function withoutIds(store: RawStore, logKeys: ReadonlySet<string>): RecordWrite[] {
  const writes: RecordWrite[] = [];
  for (const { key: id, value: logKey } of recordsOf(store, 'notificationsById')) {
    if (!logKeys.has(logKey)) continue;
    const { number } = notificationAddress(logKey);
    writes.push(remove('notificationsById', id), remove('deadLetters', deadLetterKey(number, id)));
  }
  return writes;
}

function restoredIds(store: RawStore, ids: ReadonlySet<string>): RecordWrite[] {
  const writes: RecordWrite[] = [];
  for (const { key, value } of recordsOf(store, 'notificationLog')) {
    if (ids.has(value.id)) writes.push(put('notificationsById', value.id, key));
  }
  return writes;
}

function restoredIndex(indexKeys: ReadonlySet<string>, logKeys: ReadonlySet<string>): RecordWrite[] {
  const logKeyOf = (key: string): string => notificationKey(eventOfNotification(key), numberOfEventNotification(key));
  return [...indexKeys]
    .filter((key) => !logKeys.has(logKeyOf(key)))
    .map((key) => put('notificationsByEvent', key, true));
}

/** The notifications of removed dead letters can no longer be replayed. */
function withoutLetters(store: RawStore, letterKeys: ReadonlySet<string>): RecordWrite[] {
  const writes: RecordWrite[] = [];
  for (const { key, value } of recordsOf(store, 'notificationLog')) {
    if (!letterKeys.has(deadLetterKey(notificationAddress(key).number, value.id))) continue;
    writes.push(put('notificationLog', key, { ...value, isDeadLetter: undefined }));
  }
  return writes;
}

/** Yields the intact records of a table. */
function* recordsOf<T extends TableName>(store: RawStore, table: T): Iterable<{ key: string; value: Tables[T] }> {
  const { decode } = CODECS[table];
  for (const { key, value: bytes } of store.bytesOf(table)) {
    const value = ifIntact(() => decode(bytes, `${table} ${key}`));
    if (value !== undefined) yield { key: String(key), value };
  }
}
