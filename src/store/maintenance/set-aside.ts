import { createHash } from 'node:crypto';
import { SYSTEM_NAMESPACE } from '../../resources/namespace.ts';
import {
  afterPrefix,
  ENTITY_COUNT_KEY,
  eventIndexKey,
  eventKey,
  notificationAddress,
  notificationOfEventKey,
  resourceKey,
  silenceCountKey,
} from '../encoding/keyspace.ts';
import { CorruptRecord, ifIntact, unseal } from '../encoding/sealed.ts';
import { RawStore } from '../lmdb/raw-store.ts';
import { STORE_VERSION, STORE_VERSION_KEY } from '../lmdb/store-version.ts';
import type { RecordWrite } from '../migrations/migration.ts';
import { CODECS } from '../records/codecs.ts';
import { type ResourceRecord, TABLE_NAMES, type TableName } from '../records/records.ts';
import type { QuarantineDirectory } from './quarantine-directory.ts';

/** Damaged records that can be set aside at once. A store with more of them must be restored. */
const MAX_RECORDS = 500;
/** What is read in one tick of the event loop. */
const SLICE = { maxRecords: 10_000, maxBytes: 16 * 1024 * 1024 };
/** Entries of the outbox are set aside with their attempts when they are read. Without a record of `meta` a store cannot be used. */
const OTHERS: readonly TableName[] = ['outbox', 'attempts', 'meta'];
const TABLES = TABLE_NAMES.filter((name) => !OTHERS.includes(name));
const NAMESPACES = 'namespaces/';
const SILENCES = 'silenced/';

/** The key of `meta` with the records that were set aside and that no decision has reported yet. */
export const SET_ASIDE_KEY = 'set-aside';

/** A damaged record that was removed from the store. */
export interface SetAside {
  table: string;
  key: string;
  /** The file with its bytes. */
  file: string;
  bytes: number;
  /** What the store has in its place: nothing, or the same record, which its key determines. */
  now: 'absent' | 'restored';
}

/**
 * Removes the records whose checksum does not match from a store with intact pages, which nobody has open, after their bytes are
 * durable in the quarantine. The store keeps a list of them under `SET_ASIDE_KEY`. `ownEntity` is the name of the backend's own
 * entity, which is not counted. Returns the records.
 *
 * @throws CorruptRecord when there are too many of them
 * @throws QuarantineUnusable when a file cannot be written; nothing is removed then
 */
export async function setDamagedAside(
  directory: string,
  quarantine: QuarantineDirectory,
  ownEntity: string,
): Promise<SetAside[]> {
  const damaged = await withStore(directory, true, findDamaged);
  if (damaged.length === 0) return [];
  return withStore(directory, false, async (store) => {
    const records: SetAside[] = [];
    for (const { table, key } of damaged) {
      const bytes = Buffer.from(store.valueOf(table, key) ?? '');
      const file = await quarantine.write(fileName(table, key), bytes);
      const now = restored(table, key) === undefined ? 'absent' : 'restored';
      records.push({ table, key, file, bytes: bytes.length, now });
    }
    const earlier = (store.meta(SET_ASIDE_KEY) ?? []) as SetAside[];
    store.write([...records.flatMap((record) => replacement(store, record)), ...counts(store, records, ownEntity)], {
      [SET_ASIDE_KEY]: [...earlier, ...records],
    });
    return records;
  });
}

async function withStore<T>(directory: string, readOnly: boolean, use: (store: RawStore) => Promise<T>): Promise<T> {
  const store = new RawStore({ directory, sync: 'full', readOnly });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

async function findDamaged(store: RawStore): Promise<{ table: string; key: string }[]> {
  const stored = new Set(store.tableNames());
  // Another version may have other layouts. The program that opens the store says so.
  if (!stored.has('meta') || store.meta(STORE_VERSION_KEY) !== STORE_VERSION) return [];
  const damaged: { table: string; key: string }[] = [];
  for (const table of TABLES.filter((name) => stored.has(name))) {
    let after: string | null = null;
    for (;;) {
      const { unreadable, lastKey } = store.batch({ table }, after, SLICE);
      damaged.push(...unreadable.map((key) => ({ table, key })));
      if (damaged.length > MAX_RECORDS) throw new CorruptRecord(`more than ${MAX_RECORDS} records are damaged`);
      if (lastKey === undefined) break;
      after = lastKey;
      await new Promise((resolve) => void setImmediate(resolve));
    }
  }
  return damaged;
}

/** The key may be longer than the name of a file. */
const fileName = (table: string, key: string): string =>
  `${table}-${createHash('sha256').update(key).digest('hex').slice(0, 16)}`;

/** The value of a record that follows from its key; undefined when it does not. */
function restored(table: string, key: string): Buffer | undefined {
  // Without its namespace, what agents send would be refused for ever.
  if (table === 'resources' && key.startsWith(NAMESPACES)) return resource({ name: key.slice(NAMESPACES.length) });
  return table === 'notificationsByEvent' ? unseal(CODECS.notificationsByEvent.encode(true), key) : undefined;
}

/** Removes a record with those that mean nothing without it, or restores it. */
function replacement(store: RawStore, { table, key }: SetAside): RecordWrite[] {
  const remove = (from: string, removed: string): RecordWrite => ({ table: from, key: removed, payload: null });
  const payload = restored(table, key);
  if (payload !== undefined) return [{ table, key, payload }];
  const writes = [remove(table, key)];
  if (table === 'events') writes.push(remove('eventsByCheck', eventIndexKey(key)), remove('incidents', key));
  if (table === 'notificationLog') {
    const { namespace, entity, check, number } = notificationAddress(key);
    writes.push(remove('notificationsByEvent', notificationOfEventKey(eventKey(namespace, entity, check), number)));
    writes.push(...idsOf(store, key).map((id) => remove('notificationsById', id)));
  }
  return writes;
}

/** The ids of a notification. */
function idsOf(store: RawStore, logKey: string): string[] {
  const { decode } = CODECS.notificationsById;
  return [...store.bytesOf('notificationsById')].flatMap(({ key, value }) =>
    ifIntact(() => decode(value, '')) === logKey ? [String(key)] : [],
  );
}

/** The stored numbers of entities and silences, counted again when a resource is removed. */
function counts(store: RawStore, records: readonly SetAside[], own: string): RecordWrite[] {
  const gone = new Set(
    records.filter(({ table, now }) => table === 'resources' && now === 'absent').map(({ key }) => key),
  );
  if (gone.size === 0) return [];
  const keysUnder = (prefix: string): string[] =>
    [...store.keysOf('resources', { from: prefix, to: afterPrefix(prefix) })].filter((key) => !gone.has(key));
  const ownKey = resourceKey('entities', SYSTEM_NAMESPACE, own);
  const entities = keysUnder('entities/').filter((key) => key !== ownKey).length;
  const silences = new Map<string, number>();
  const add = (key: string, change: number): void => {
    const namespace = key.split('/')[1] ?? '';
    silences.set(namespace, (silences.get(namespace) ?? 0) + change);
  };
  for (const key of gone) if (key.startsWith(SILENCES)) add(key, 0);
  for (const key of keysUnder(SILENCES)) add(key, 1);
  return [
    { table: 'resources', key: ENTITY_COUNT_KEY, payload: resource({ count: entities, own }) },
    ...[...silences].map(([namespace, count]) => ({
      table: 'resources',
      key: silenceCountKey(namespace),
      payload: resource({ count }),
    })),
  ];
}

const resource = (record: ResourceRecord): Buffer => unseal(CODECS.resources.encode(record), 'resources');
