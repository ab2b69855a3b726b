import type { CheckEvent } from '../resources/event.ts';
import { type EventAddress, eventKey } from './keyspace.ts';
import { type LazyPage, lazyPage, mapPage, type PageRequest } from './page.ts';
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
  list(scope: { namespace?: string; entity?: string }, page: PageRequest = {}): LazyPage<CheckEvent> {
    const prefix = [scope.namespace, scope.entity].map((name) => (name === undefined ? '' : `${name}/`)).join('');
    return mapPage(lazyPage(this.#store, 'events', prefix, page), eventOf);
  }
}
