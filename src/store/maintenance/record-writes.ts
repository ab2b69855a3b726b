import { unseal } from '../encoding/sealed.ts';
import type { RecordWrite } from '../migrations/migration.ts';
import { CODECS } from '../records/codecs.ts';
import type { TableName, Tables } from '../records/records.ts';

/** Returns the write that stores a record. */
export function put<T extends TableName>(table: T, key: string, value: Tables[T]): RecordWrite {
  return { table, key, payload: unseal(CODECS[table].encode(value), `${table} ${key}`) };
}

/** Returns the write that removes a record or an index entry. */
export const remove = (table: TableName | 'eventsByCheck', key: string): RecordWrite => ({ table, key, payload: null });
