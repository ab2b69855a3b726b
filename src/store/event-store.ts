import type { CheckEvent } from '../resources/event.ts';
import { eventKey } from './encoding/keyspace.ts';
import { type LazyPage, lazyPage, mapPage, type PageRequest } from './page.ts';
import { eventOf } from './records/records.ts';
import type { RangeReader } from './commit/transactional-store.ts';
import { VisibleStore } from './visible-store.ts';

/** The durable events, as users see them. */
export class EventStore {
  readonly #store: RangeReader;

  constructor(store: RangeReader) {
    this.#store = new VisibleStore(store);
  }

  get(namespace: string, entity: string, check: string): CheckEvent | undefined {
    const record = this.#store.get('events', eventKey(namespace, entity, check));
    return record === undefined ? undefined : eventOf(record);
  }

  /** Lists all events, those of a namespace, or those of one entity. `from` is relative to that. */
  list(scope: { namespace?: string; entity?: string }, page: PageRequest = {}): LazyPage<CheckEvent> {
    const prefix = [scope.namespace, scope.entity].map((name) => (name === undefined ? '' : `${name}/`)).join('');
    return mapPage(lazyPage(this.#store, 'events', prefix, page), eventOf);
  }
}
