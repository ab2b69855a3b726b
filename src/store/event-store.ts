import type { CheckEvent } from '../resources/event.ts';
import { type EventAddress, eventKey } from './keyspace.ts';
import { type Page, type PageRequest, readPage } from './page.ts';
import { eventOf, type Notification } from './records.ts';
import type { TransactionalStore } from './transactional-store.ts';

/** The durable events, as people see them. */
export class EventStore {
  readonly #store: TransactionalStore;

  constructor(store: TransactionalStore) {
    this.#store = store;
  }

  get(namespace: string, entity: string, check: string): CheckEvent | undefined {
    const record = this.#store.get('events', eventKey(namespace, entity, check));
    return record === undefined ? undefined : eventOf(record);
  }

  /** What became of the latest notifications of an event, oldest first. They outlive the event. */
  notifications({ namespace, entity, check }: EventAddress): readonly Notification[] {
    return this.#store.get('notifications', eventKey(namespace, entity, check)) ?? [];
  }

  /** Of everything, a namespace, or one entity of a namespace; `from` is relative to that. */
  list(scope: { namespace?: string; entity?: string }, page: PageRequest = {}): Page<CheckEvent> {
    const { namespace, entity } = scope;
    if (namespace === undefined) return this.#all(page);
    const prefix = entity === undefined ? `${namespace}/` : `${namespace}/${entity}/`;
    const { items, lastKey } = readPage(this.#store, 'events', prefix, page);
    return { items: items.map(eventOf), lastKey };
  }

  #all({ limit, from = '' }: PageRequest): Page<CheckEvent> {
    const found = [
      ...this.#store.range('events', { from, to: '~', ...(limit === undefined ? {} : { limit: limit + 1 }) }),
    ];
    const shown = limit === undefined ? found : found.slice(0, limit);
    return {
      items: shown.map(({ value }) => eventOf(value)),
      lastKey: found.length > shown.length ? shown.at(-1)?.key : undefined,
    };
  }
}
