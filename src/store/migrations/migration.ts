/** A stored record of any store version: its key, and its payload, which is the stored value without version byte and checksum. */
export interface StoredRecord {
  readonly key: string;
  readonly payload: Buffer;
}

/** The payload of an index entry, which has its information in the key alone and is stored without a checksum. */
export const INDEX_MARK = 'mark';

/** One write of a migration step. A payload of `null` deletes the key. */
export interface RecordWrite {
  readonly table: string;
  readonly key: string;
  readonly payload: Buffer | typeof INDEX_MARK | null;
}

/**
 * A walk over one table in the order of its keys. The upgrade calls `writes` once for each record and commits the writes of
 * many records in one transaction, together with the position that it has reached. A pass may change or delete the record that
 * it is given and may write other tables; it must not add keys to the table that it walks.
 */
export interface TablePass {
  readonly table: string;
  /** Whether the table is an index: its records have no checksums, and empty payloads. */
  readonly isIndex?: boolean;
  /** @throws Error when the record cannot be converted: the upgrade then halts, and keeps what earlier batches wrote */
  writes(record: StoredRecord): readonly RecordWrite[];
}

/**
 * A step from store version `to - 1` to store version `to`. A step contains its own description of the formats that it reads and
 * writes and imports no codec of the running program, because those describe the newest version only.
 */
export interface Migration {
  readonly to: number;
  /** A few words for the log and the documentation. */
  readonly name: string;
  readonly passes: readonly TablePass[];
}
