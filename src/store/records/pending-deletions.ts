import { withTtl } from './encoded-event.ts';
import { eventAddress } from '../encoding/keyspace.ts';
import type { DeletedKind, EventRecord, TableName, Tables } from './records.ts';
import type { TableReader } from './table-reader.ts';

/** The keys of silences in the table `resources` begin with it. */
export const SILENCES = 'silenced/';
/** An entity's own subscription begins with it. */
const ENTITY = 'entity:';

/** Returns the key of the check TTL of an event among the items of the kind `ttls`. */
export function ttlItem(key: string): string {
  const { namespace, entity, check } = eventAddress(key);
  return `${namespace}/${check}/${entity}`;
}

/**
 * Returns the prefixes that deletions of an item can have. Reads the record of a silence, because its subscription is not
 * always clear from its name; a silence that is not stored has no prefix.
 */
function prefixesOf(reader: TableReader, kind: DeletedKind, item: string): string[] {
  if (kind === 'silences') return silencePrefixes(item, reader.get('resources', SILENCES + item));
  const [first = '', second = ''] = item.split('/');
  const parent = `${first}/${second}/`;
  return kind === 'events' ? [`${first}/`, parent] : [parent];
}

function silencePrefixes(item: string, record: object | undefined): string[] {
  const { subscription = '' } = (record ?? {}) as { subscription?: string };
  return subscription.startsWith(ENTITY) ? [`${item.slice(0, item.indexOf('/'))}/${subscription}:`] : [];
}

/** Returns the prefix of a pending deletion that hides the item; undefined when the item is visible. */
export function hiddenBy(reader: TableReader, kind: DeletedKind, item: string): string | undefined {
  return prefixesOf(reader, kind, item).find((prefix) => hides(reader, kind, prefix, item));
}

/** Whether a pending deletion would hide this record of a silence. */
export const hidesSilence = (reader: TableReader, item: string, record: object): boolean =>
  silencePrefixes(item, record).some((prefix) => hides(reader, 'silences', prefix, item));

function hides(reader: TableReader, kind: DeletedKind, prefix: string, item: string): boolean {
  const deletion = reader.get('deletions', `${kind}/${prefix}`);
  if (deletion === undefined || item <= deletion.after) return false;
  return (reader.get('renewals', `${kind}/${item}`)?.id ?? 0) < deletion.id;
}

/** Whether a pending deletion with another prefix has yet to pass the item. */
export function isCoveredBeside(reader: TableReader, kind: DeletedKind, item: string, prefix: string): boolean {
  return prefixesOf(reader, kind, item).some((other) => {
    const after = other === prefix ? undefined : reader.get('deletions', `${kind}/${other}`)?.after;
    return after !== undefined && item > after;
  });
}

/** Whether pending deletions can hide records of the table whose keys begin with this text. */
export const canHide = (table: TableName, beginning: string): boolean =>
  table === 'events' || (table === 'resources' && beginning.startsWith(SILENCES));

/** Whether pending deletions hide a record for which `canHide` holds. */
export const isHidden = (reader: TableReader, table: TableName, key: string): boolean =>
  (table === 'events' ? hiddenBy(reader, 'events', key) : hiddenBy(reader, 'silences', key.slice(SILENCES.length))) !==
  undefined;

/** Returns a stored record without what pending deletions hide of it; undefined when they hide all of it. */
export function visible<T extends TableName>(
  reader: TableReader,
  table: T,
  key: string,
  record: Tables[T],
): Tables[T] | undefined {
  if (!canHide(table, key)) return record;
  if (isHidden(reader, table, key)) return undefined;
  return table === 'events' ? (withVisibleTtl(reader, key, record as EventRecord) as Tables[T]) : record;
}

function withVisibleTtl(reader: TableReader, key: string, record: EventRecord): EventRecord {
  const isDisarmed = record.ttl !== undefined && hiddenBy(reader, 'ttls', ttlItem(key)) !== undefined;
  return isDisarmed ? withTtl(record, undefined) : record;
}
