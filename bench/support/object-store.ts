import { MemoryStore } from '../../spec/support/memory-store.ts';
import { TABLE_NAMES, type TableName, type Tables } from '../../src/store/records/records.ts';
import type { Range, WriteSet } from '../../src/store/commit/transactional-store.ts';

/** Keeps the objects that decisions read again, and no ledger, so that neither encoding nor I/O is measured. */
export class ObjectStore extends MemoryStore {
  readonly #objects = new Map<TableName, Map<string, unknown>>(TABLE_NAMES.map((table) => [table, new Map()]));

  override get<T extends TableName>(table: T, key: string): Tables[T] | undefined {
    return this.#objects.get(table)?.get(key) as Tables[T] | undefined;
  }

  override keys(table: TableName, { from, to, limit, isReversed = false }: Range): Iterable<string> {
    const keys = [...(this.#objects.get(table)?.keys() ?? [])].filter((key) => key >= from && key < to).sort();
    if (isReversed) keys.reverse();
    return keys.slice(0, limit);
  }

  override write({ puts }: WriteSet): Promise<void> {
    for (const table of TABLE_NAMES) {
      for (const [key, value] of puts[table]) {
        if (value === null) this.#objects.get(table)?.delete(key);
        else this.#objects.get(table)?.set(key, value);
      }
    }
    return Promise.resolve();
  }
}
