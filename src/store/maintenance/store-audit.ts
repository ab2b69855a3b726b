import { createHash } from 'node:crypto';
import { yieldToEventLoop } from './durable-files.ts';
import type { RawStore } from '../lmdb/raw-store.ts';
import { CorruptRecord, unseal } from '../encoding/sealed.ts';

/** The number of records that are read between two checks of the signal. */
const RECORDS_PER_SLICE = 1_000;
const LENGTH_BYTES = 4;
/** Tables whose keys are their information. Their values are empty and have no checksum. */
const INDEX_TABLES: ReadonlySet<string> = new Set(['eventsByCheck', 'ledgerByKey', 'ledgerByActor']);

/** The records of a table, and SHA-256 over the lengths and bytes of their keys and values in order. */
export interface TableDigest {
  records: number;
  sha256: string;
}

export interface StoreAudit {
  tables: Readonly<Record<string, TableDigest>>;
  /** The records whose checksum does not match, as `<table> <key>`. */
  damaged: readonly string[];
}

/** Reads every record of a store and verifies its checksum. @throws the reason of `signal`, or the error of a page that cannot be read */
export async function auditStore(store: RawStore, signal: AbortSignal): Promise<StoreAudit> {
  const tables: Record<string, TableDigest> = {};
  const damaged: string[] = [];
  for (const table of store.tableNames()) {
    await yieldToEventLoop(signal);
    const digest = createHash('sha256');
    const length = Buffer.alloc(LENGTH_BYTES);
    const add = (bytes: Buffer): void => {
      length.writeUInt32LE(bytes.length);
      digest.update(length).update(bytes);
    };
    let records = 0;
    for (const { key, value } of store.bytesOf(table)) {
      add(Buffer.from(String(key)));
      add(value);
      if (!INDEX_TABLES.has(table) && !isIntact(value)) damaged.push(`${table} ${key}`);
      records += 1;
      if (records % RECORDS_PER_SLICE === 0) await yieldToEventLoop(signal);
    }
    tables[table] = { records, sha256: digest.digest('hex') };
  }
  return { tables, damaged };
}

function isIntact(value: Buffer): boolean {
  try {
    unseal(value, '');
    return true;
  } catch (error) {
    if (!(error instanceof CorruptRecord)) throw error;
    return false;
  }
}
