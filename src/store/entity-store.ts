import { deepFreeze } from '../resources/deep-freeze.ts';
import {
  EMPTY_ENTITY_STATE,
  type Entity,
  type EntityConfig,
  type EntityState,
  joinEntity,
} from '../resources/entity.ts';
import type { TableReader } from './commit/decision.ts';
import { entityKey } from './encoding/keyspace.ts';
import { type LazyPage, mapPage, type PageRequest } from './page.ts';
import { atMostJsonBytes } from './records/event-sizes.ts';
import { readResource, ResourceStore } from './resource-store.ts';
import type { TransactionalStore } from './commit/transactional-store.ts';

/** Reads configuration and state of an entity. An entity that never reported has an empty state. */
export function readEntity(reader: TableReader, namespace: string, name: string): Entity | undefined {
  const config = readResource(reader, 'entities', namespace, name);
  return config === undefined ? undefined : withState(reader, config, namespace, name);
}

const stateOf = (reader: TableReader, namespace: string, name: string): EntityState =>
  reader.get('entities', entityKey(namespace, name))?.state ?? EMPTY_ENTITY_STATE;

const withState = (reader: TableReader, config: EntityConfig, namespace: string, name: string): Entity =>
  joinEntity(config, stateOf(reader, namespace, name));

/** The size above which an entity is not shared, in bytes: a shared one takes memory twice. */
const MAX_SHARED_BYTES = 16 * 1024;

/** Entities by the configuration that they were joined from. An entry is collected together with its configuration. */
const shared = new WeakMap<EntityConfig, { state: EntityState; entity: Entity }>();

/**
 * Returns the entity as `readEntity` does. Until one of its parts changes it is the same object, which is frozen at every level, so
 * that its events can share its encoded form.
 */
export function readSharedEntity(reader: TableReader, namespace: string, name: string): Entity | undefined {
  const config = readResource(reader, 'entities', namespace, name);
  if (config === undefined) return undefined;
  const state = stateOf(reader, namespace, name);
  const known = shared.get(config);
  if (known?.state === state) return known.entity;
  const entity = joinEntity(config, state);
  if (atMostJsonBytes(entity) > MAX_SHARED_BYTES) return entity;
  shared.set(config, { state, entity: deepFreeze(entity) });
  return entity;
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
