import { createHash } from 'node:crypto';
import { SYSTEM_NAMESPACE } from '../../resources/namespace.ts';
import { afterPrefix, ENTITY_COUNT_KEY, eventIndexKey, resourceKey, silenceCountKey } from '../encoding/keyspace.ts';
import { CorruptRecord } from '../encoding/sealed.ts';
import { RawStore } from '../lmdb/raw-store.ts';
import { STORE_VERSION, STORE_VERSION_KEY, UPGRADE_KEY } from '../lmdb/store-version.ts';
import type { RecordWrite } from '../migrations/migration.ts';
import { TABLE_NAMES, type TableName } from '../records/records.ts';
import { type DamagedKeys, notificationRepairs } from './notification-repairs.ts';
import type { QuarantineDirectory } from './quarantine-directory.ts';
import { put, remove } from './record-writes.ts';

/** Damaged records that can be set aside at once. A store with more of them must be restored. */
const MAX_RECORDS = 500;
/** What is read in one tick of the event loop. */
const SLICE = { maxRecords: 10_000, maxBytes: 16 * 1024 * 1024 };
/** Entries of the outbox are set aside with their attempts when they are read. Without a record of `meta` a store cannot be used. */
const NOT_SET_ASIDE: readonly TableName[] = ['outbox', 'attempts', 'meta'];
const TABLES = TABLE_NAMES.filter((name) => !NOT_SET_ASIDE.includes(name));
/** Without one of these records, deleted items would be visible again, or items that were stored since would be deleted. */
const REQUIRED: readonly TableName[] = ['deletions', 'renewals'];
const NAMESPACES = 'namespaces/';
const SILENCES = 'silenced/';

/** The key of `meta` with the records that were set aside and that no decision has reported yet. */
export const SET_ASIDE_KEY = 'set-aside';

/** A damaged record that was removed from the store. */
export interface SetAside {
  table: TableName;
  key: string;
  /** The file with its bytes. */
  file: string;
  bytes: number;
  /** Whether the store has nothing in its place, or a new record that follows from its key or from other records. */
  now: 'absent' | 'restored';
}

interface DamagedRecord {
  table: TableName;
  key: string;
}

/**
 * Removes the records whose checksum does not match from a store with intact pages, which nobody has open, after their bytes are
 * durable in the quarantine. The store keeps a list of them under `SET_ASIDE_KEY`. `ownEntity` is the name of the backend's own
 * entity, which is not counted. Returns the records.
 *
 * @throws CorruptRecord when there are too many of them, or when one is required
 * @throws QuarantineUnusable when the files cannot be written; no record is removed then
 */
export async function setDamagedAside(
  directory: string,
  quarantine: QuarantineDirectory,
  ownEntity: string,
): Promise<SetAside[]> {
  const damaged = await withStore(directory, true, findDamaged);
  if (damaged.length === 0) return [];
  return withStore(directory, false, async (store) => {
    const writes = [...damaged.flatMap(removal), ...repairs(store, damaged, ownEntity)];
    const restored = new Set(writes.filter(({ payload }) => payload !== null).map(nameOf));
    const files = damaged.map((record) => {
      const bytes = Buffer.from(store.valueOf(record.table, record.key) ?? '');
      return { record, bytes, name: fileName(record, bytes) };
    });
    await quarantine.assertRoom(files.map(({ name }) => name));
    const setAside: SetAside[] = [];
    for (const { record, bytes, name } of files) {
      const file = await quarantine.write(name, bytes);
      setAside.push({
        ...record,
        file,
        bytes: bytes.length,
        now: restored.has(nameOf(record)) ? 'restored' : 'absent',
      });
    }
    const earlier = (store.meta(SET_ASIDE_KEY) ?? []) as SetAside[];
    store.write(writes, { [SET_ASIDE_KEY]: [...earlier, ...setAside] });
    return setAside;
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

async function findDamaged(store: RawStore): Promise<DamagedRecord[]> {
  const stored = new Set(store.tableNames());
  if (!stored.has('meta') || !isCurrent(store)) return [];
  const damaged: DamagedRecord[] = [];
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
  const required = damaged.find(({ table }) => REQUIRED.includes(table));
  if (required !== undefined) throw new CorruptRecord(`${nameOf(required)}: checksum does not match`);
  return damaged;
}

/** Another version, or an upgrade that is not finished, may have other layouts. The program that opens the store says so. */
const isCurrent = (store: RawStore): boolean =>
  store.meta(STORE_VERSION_KEY) === STORE_VERSION && store.meta(UPGRADE_KEY) === undefined;

const nameOf = ({ table, key }: { table: string; key: string }): string => `${table} ${key}`;

/** The key may be longer than the name of a file. A record that is damaged again has another file. */
const fileName = ({ table, key }: DamagedRecord, bytes: Buffer): string =>
  `${table}-${createHash('sha256').update(`${key}\0`).update(bytes).digest('hex').slice(0, 16)}`;

/** Returns the writes that remove a record, and those that mean nothing without it. */
function removal({ table, key }: DamagedRecord): RecordWrite[] {
  if (table !== 'events') return [remove(table, key)];
  return [remove(table, key), remove('eventsByCheck', eventIndexKey(key)), remove('incidents', key)];
}

/** Returns the writes that restore what follows from the keys of the removed records and from the other records. */
function repairs(store: RawStore, damaged: readonly DamagedRecord[], ownEntity: string): RecordWrite[] {
  const keysOf: DamagedKeys = (table) => new Set(damaged.filter((one) => one.table === table).map(({ key }) => key));
  const resources = [...keysOf('resources')];
  // Without its namespace, what agents send would be refused for ever.
  const namespaces = resources.filter((key) => key.startsWith(NAMESPACES));
  const removed = new Set(resources.filter((key) => !key.startsWith(NAMESPACES)));
  return [
    ...namespaces.map((key) => put('resources', key, { name: key.slice(NAMESPACES.length) })),
    ...(removed.size > 0 ? counts(store, removed, ownEntity) : []),
    ...notificationRepairs(store, keysOf),
  ];
}

/** Counts the entities and the silences again. */
function counts(store: RawStore, removedResources: ReadonlySet<string>, ownEntity: string): RecordWrite[] {
  const keysUnder = (prefix: string): string[] =>
    [...store.keysOf('resources', { from: prefix, to: afterPrefix(prefix) })].filter(
      (key) => !removedResources.has(key),
    );
  const ownKey = resourceKey('entities', SYSTEM_NAMESPACE, ownEntity);
  const entities = keysUnder('entities/').filter((key) => key !== ownKey).length;
  const silences = new Map<string, number>();
  const add = (key: string, change: number): void => {
    const namespace = key.split('/')[1] ?? '';
    silences.set(namespace, (silences.get(namespace) ?? 0) + change);
  };
  for (const key of removedResources) if (key.startsWith(SILENCES)) add(key, 0);
  for (const key of keysUnder(SILENCES)) add(key, 1);
  return [
    put('resources', ENTITY_COUNT_KEY, { count: entities, own: ownEntity }),
    ...[...silences].map(([namespace, count]) => put('resources', silenceCountKey(namespace), { count })),
  ];
}
