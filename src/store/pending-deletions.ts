import { withTtl } from './encoded-event.ts';
import { eventAddress } from './keyspace.ts';
import type { DeletedKind, EventRecord } from './records.ts';
import type { TableReader } from './table-reader.ts';

/** Returns the key of the check TTL of an event among the items of the kind `ttls`. */
export function ttlItem(key: string): string {
  const { namespace, entity, check } = eventAddress(key);
  return `${namespace}/${check}/${entity}`;
}

/** Returns the prefixes that deletions of an item can have, the longest one last. */
function prefixesOf(kind: DeletedKind, item: string): string[] {
  const [first = '', second = ''] = item.split('/');
  const parent = `${first}/${second}/`;
  return kind === 'events' ? [`${first}/`, parent] : [parent];
}

/** Returns the prefix of a pending deletion that hides the item; undefined when the item is visible. */
export function hiddenBy(reader: TableReader, kind: DeletedKind, item: string): string | undefined {
  return prefixesOf(kind, item).find((prefix) => {
    const deletion = reader.get('deletions', `${kind}/${prefix}`);
    if (deletion === undefined || item <= deletion.after) return false;
    return (reader.get('renewals', `${kind}/${item}`)?.id ?? 0) < deletion.id;
  });
}

/** Whether a pending deletion with another prefix has yet to pass the item. */
export function isCoveredBeside(reader: TableReader, kind: DeletedKind, item: string, prefix: string): boolean {
  return prefixesOf(kind, item).some((other) => {
    const after = other === prefix ? undefined : reader.get('deletions', `${kind}/${other}`)?.after;
    return after !== undefined && item > after;
  });
}

/** Returns a stored event without what pending deletions hide of it; undefined when they hide all of it. */
export function visibleEvent(reader: TableReader, key: string, record: EventRecord): EventRecord | undefined {
  if (hiddenBy(reader, 'events', key) !== undefined) return undefined;
  const isDisarmed = record.ttl !== undefined && hiddenBy(reader, 'ttls', ttlItem(key)) !== undefined;
  return isDisarmed ? withTtl(record, undefined) : record;
}
