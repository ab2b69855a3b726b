import { afterPrefix, keyAfter } from './encoding/keyspace.ts';
import { canHide, hiddenBy, SILENCES, visible } from './records/pending-deletions.ts';
import type { TableName, Tables } from './records/records.ts';
import type { TableReader } from './records/table-reader.ts';
import type { Range, RangeReader } from './commit/transactional-store.ts';

const DELETIONS = { from: '', to: '~', limit: 1 };
/** The beginnings of the keys of renewals. */
const RENEWED = { events: 'events/', silences: 'silences/' };

/** The parts of a name `entity:<entity>:<check>`. */
const NAME_PARTS = 3;

/** Reads single records as `VisibleStore` does. */
export class VisibleReader implements TableReader {
  readonly #reader: TableReader;

  constructor(reader: TableReader) {
    this.#reader = reader;
  }

  get<T extends TableName>(table: T, key: string): Tables[T] | undefined {
    const record = this.#reader.get(table, key);
    return record === undefined ? undefined : visible(this.#reader, table, key, record);
  }
}

/** A store without the events, check TTLs and silences whose deletion is decided and not yet carried out. */
export class VisibleStore extends VisibleReader implements RangeReader {
  readonly #store: RangeReader;

  constructor(store: RangeReader) {
    super(store);
    this.#store = store;
  }

  keys(table: TableName, range: Range): Iterable<string> {
    return this.#hides(table, range) ? this.#visibleKeys(table, range) : this.#store.keys(table, range);
  }

  *range<T extends TableName>(table: T, range: Range): Iterable<{ key: string; value: Tables[T] }> {
    if (!this.#hides(table, range)) {
      yield* this.#store.range(table, range);
      return;
    }
    for (const key of this.#visibleKeys(table, range)) {
      const value = this.get(table, key);
      if (value !== undefined) yield { key, value };
    }
  }

  #hides(table: TableName, { from }: Range): boolean {
    return canHide(table, from) && this.#hasDeletions();
  }

  #visibleKeys(table: TableName, range: Range): Iterable<string> {
    return inRange(table === 'events' ? this.#eventKeys(range) : this.#silenceKeys(range), range);
  }

  /** Among hidden silences it reads only those whose subscription does not follow from their name, and the renewals of a deletion once. */
  *#silenceKeys({ from, to }: Range): Iterable<string> {
    const renewedOf = new Map<string, ReadonlySet<string>>();
    let hidden: { prefix: string; renewed: ReadonlySet<string> } | undefined;
    for (const key of this.#store.keys('resources', { from, to })) {
      const item = key.slice(SILENCES.length);
      const isNext = hidden !== undefined && item.startsWith(hidden.prefix) && !hidden.renewed.has(item);
      if (isNext && isUnambiguous(item)) continue;
      const prefix = hiddenBy(this.#store, 'silences', item);
      if (prefix === undefined) {
        yield key;
        continue;
      }
      const renewed = renewedOf.get(prefix) ?? this.#renewedSilences(prefix);
      renewedOf.set(prefix, renewed);
      hidden = { prefix, renewed };
    }
  }

  #renewedSilences(prefix: string): Set<string> {
    const range = { from: RENEWED.silences + prefix, to: RENEWED.silences + afterPrefix(prefix) };
    return new Set([...this.#store.keys('renewals', range)].map((key) => key.slice(RENEWED.silences.length)));
  }

  #hasDeletions(): boolean {
    const [first] = this.#store.keys('deletions', DELETIONS);
    return first !== undefined;
  }

  /** Skips the hidden events without reading each of them: within a deletion only renewed events can be visible. */
  *#eventKeys({ from, to }: Range): Iterable<string> {
    for (let start: string | undefined = from; start !== undefined && start < to;) {
      const begin: string = start;
      start = undefined;
      for (const key of this.#store.keys('events', { from: begin, to })) {
        const prefix = hiddenBy(this.#store, 'events', key);
        if (prefix === undefined) {
          yield key;
          continue;
        }
        start = this.#firstRenewed(key, afterPrefix(prefix));
        break;
      }
    }
  }

  /** Returns the first renewed event after a key, or `end` when there is none before it. */
  #firstRenewed(after: string, end: string): string {
    const [renewed] = this.#store.keys('renewals', {
      from: RENEWED.events + keyAfter(after),
      to: RENEWED.events + end,
      limit: 1,
    });
    return renewed?.slice(RENEWED.events.length) ?? end;
  }
}

/** Whether the subscription and check of a silence are clear from its name: neither the entity nor the check has a colon. */
const isUnambiguous = (item: string): boolean => item.slice(item.indexOf('/')).split(':').length === NAME_PARTS;

function* inRange(keys: Iterable<string>, { offset = 0, limit = Infinity }: Range): Iterable<string> {
  let index = 0;
  for (const key of keys) {
    if (index >= offset + limit) return;
    if (index >= offset) yield key;
    index += 1;
  }
}
