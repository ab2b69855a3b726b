import type { TableName, Tables } from './records.ts';

/** Reads records by key. */
export interface TableReader {
  get<T extends TableName>(table: T, key: string): Tables[T] | undefined;
}
