import { EMPTY_ENTITY_STATE, type Entity, type EntityConfig, joinEntity } from '../resources/entity.ts';
import type { TableReader } from './commit/decision.ts';
import { entityKey } from './encoding/keyspace.ts';
import { type LazyPage, mapPage, type PageRequest } from './page.ts';
import { readResource, ResourceStore } from './resource-store.ts';
import type { TransactionalStore } from './commit/transactional-store.ts';

/** Reads configuration and state of an entity. An entity that never reported has an empty state. */
export function readEntity(reader: TableReader, namespace: string, name: string): Entity | undefined {
  const config = readResource(reader, 'entities', namespace, name);
  return config === undefined ? undefined : withState(reader, config, namespace, name);
}

function withState(reader: TableReader, config: EntityConfig, namespace: string, name: string): Entity {
  return joinEntity(config, reader.get('entities', entityKey(namespace, name))?.state ?? EMPTY_ENTITY_STATE);
}

/** The durable entities: configuration joined with state. */
export class EntityStore {
  readonly #store: TransactionalStore;
  readonly #configs: ResourceStore;

  constructor(store: TransactionalStore) {
    this.#store = store;
    this.#configs = new ResourceStore(store);
  }

  get(namespace: string, name: string): Entity | undefined {
    return readEntity(this.#store, namespace, name);
  }

  /** Lists the entities of one namespace, or of all. */
  list(namespace?: string, page: PageRequest = {}): LazyPage<Entity> {
    return mapPage(this.#configs.lazyList('entities', namespace, page), (config) =>
      withState(this.#store, config, config.metadata.namespace ?? '', config.metadata.name ?? ''),
    );
  }
}
