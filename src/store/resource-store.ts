import type { ApiKey } from '../resources/api-key.ts';
import type { ConfigurationResources } from '../resources/configuration-kinds.ts';
import type { EntityConfig } from '../resources/entity.ts';
import type { Namespace } from '../resources/namespace.ts';
import type { SilenceRecord } from '../resources/silenced.ts';
import { type Tessen, tessenWithDefaults } from '../resources/tessen.ts';
import type { User } from '../resources/user.ts';
import type { RingPositions } from '../rules/ring-positions.ts';
import type { TokenSessions } from '../rules/token-sessions.ts';
import type { TableReader } from './commit/decision.ts';
import { type ResourceKind, resourceKey, ringPositionsKey, TESSEN_KEY, tokenSessionsKey } from './encoding/keyspace.ts';
import { type LazyPage, lazyPage, type Page, type PageRequest, readPage } from './page.ts';
import type { RangeReader } from './commit/transactional-store.ts';
import { VisibleStore } from './visible-store.ts';

/** The stored type of each kind. */
export interface Resources extends ConfigurationResources {
  namespaces: Namespace;
  /** The configuration of entities; `EntityStore` joins it with the state. */
  entities: EntityConfig;
  silenced: SilenceRecord;
  users: User;
  apikeys: ApiKey;
}

/** Reads a resource through a reader: a decision, or the durable store. `namespace` is undefined for cluster-wide kinds. */
export function readResource<K extends ResourceKind>(
  reader: TableReader,
  kind: K,
  namespace: string | undefined,
  name: string,
): Resources[K] | undefined {
  return reader.get('resources', resourceKey(kind, namespace, name)) as Resources[K] | undefined;
}

/** The positions in the rings of a check. Undefined before its first run. */
export function readRingPositions(reader: TableReader, namespace: string, check: string): RingPositions | undefined {
  return reader.get('resources', ringPositionsKey(namespace, check)) as RingPositions | undefined;
}

/** The login sessions of a user. Undefined when the user has none. */
export function readTokenSessions(reader: TableReader, username: string): TokenSessions | undefined {
  return reader.get('resources', tokenSessionsKey(username)) as TokenSessions | undefined;
}

/** The telemetry setting, or its default. */
export const readTessen = (reader: TableReader): Tessen =>
  (reader.get('resources', TESSEN_KEY) as Tessen | undefined) ?? tessenWithDefaults({});

/** The durable configuration, for the API and for parts that read outside a decision. */
export class ResourceStore {
  readonly #store: RangeReader;

  constructor(store: RangeReader) {
    this.#store = new VisibleStore(store);
  }

  get<K extends ResourceKind>(kind: K, namespace: string | undefined, name: string): Resources[K] | undefined {
    return readResource(this.#store, kind, namespace, name);
  }

  tessen(): Tessen {
    return readTessen(this.#store);
  }

  tokenSessions(username: string): TokenSessions | undefined {
    return readTokenSessions(this.#store, username);
  }

  /** Lists the resources of one namespace, or of all when `namespace` is undefined (always for cluster-wide kinds). */
  list<K extends ResourceKind>(kind: K, namespace?: string, page: PageRequest = {}): Page<Resources[K]> {
    return readPage(this.#store, 'resources', prefixOf(kind, namespace), page) as Page<Resources[K]>;
  }

  /** Lists resources as `list` does, without loading them all into memory. */
  lazyList<K extends ResourceKind>(kind: K, namespace?: string, page: PageRequest = {}): LazyPage<Resources[K]> {
    return lazyPage(this.#store, 'resources', prefixOf(kind, namespace), page) as LazyPage<Resources[K]>;
  }
}

const prefixOf = (kind: ResourceKind, namespace: string | undefined): string =>
  namespace === undefined ? `${kind}/` : `${kind}/${namespace}/`;
