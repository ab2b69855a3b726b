import type { Commands, WakeableActor } from '../../src/actors/administration/commands.ts';
import type {
  DescribedKind,
  Edit,
  ResourceAddress,
  WritableKind,
} from '../../src/actors/administration/resource-changes.ts';
import type { UserEdit } from '../../src/actors/administration/user-changes.ts';
import type { AdhocRequest } from '../../src/resources/adhoc-request.ts';
import { configOf, type Entity, type EntityConfig, stateOf, withOwnSubscription } from '../../src/resources/entity.ts';
import { AlreadyExists, InvalidResource, NotFound } from '../../src/resources/errors.ts';
import { type Event, hasCheck } from '../../src/resources/event.ts';
import {
  NO_SILENCE_LIMITS,
  type Silenced,
  silencedName,
  type SilenceRecord,
  withTimes,
} from '../../src/resources/silenced.ts';
import type { Tessen } from '../../src/resources/tessen.ts';
import type { User } from '../../src/resources/user.ts';
import {
  NO_SESSIONS,
  refreshed,
  type RefreshOutcome,
  type RefreshRequest,
  type TokenSession,
  type TokenSessions,
  withoutSession,
  withSession,
} from '../../src/rules/token-sessions.ts';
import { emptyPuts } from '../../src/store/decision.ts';
import {
  type EventAddress,
  entityKey,
  eventKey,
  resourceKey,
  TESSEN_KEY,
  tokenSessionsKey,
} from '../../src/store/keyspace.ts';
import type { TableName, Tables } from '../../src/store/records.ts';
import { readResource, readTokenSessions, type Resources } from '../../src/store/resource-store.ts';
import type { TransactionalStore } from '../../src/store/transactional-store.ts';

/** When each execution was issued, says this one. */
export const ISSUED_S = 1_700_000_000;

/** Commands that store what they are given and decide nothing else; they remember what they were asked. */
export class StoringCommands implements Commands {
  /** `command user` of each call. */
  readonly calls: string[] = [];
  /** Thrown by the next command, once. */
  failure: Error | undefined;
  readonly #store: TransactionalStore;

  constructor(store: TransactionalStore) {
    this.#store = store;
  }

  async putEvent(event: Event, user: string): Promise<void> {
    this.#begin('putEvent', user, event.entity?.metadata.namespace);
    if (!hasCheck(event)) return;
    const { status, executed } = event.check;
    const { namespace = '', name: entity = '' } = event.entity.metadata;
    const by = <T extends { metadata: Event['metadata'] }>(part: T): T => ({
      ...part,
      metadata: { ...part.metadata, created_by: user },
    });
    await this.#put('events', eventKey(namespace, entity, event.check.metadata.name ?? ''), {
      state: {
        history: { statuses: [status], executed: [executed] },
        occurrences: 1,
        occurrencesWatermark: 1,
        state: status === 0 ? 'passing' : 'failing',
        totalStateChange: 0,
        lastOk: status === 0 ? executed : 0,
        silenced: [],
      },
      ttl: undefined,
      event: {
        ...event,
        entity: withOwnSubscription(by(event.entity)),
        check: by(event.check),
        metadata: { ...event.metadata, namespace, created_by: user },
      },
    });
  }

  async createEvent(event: Event, user: string): Promise<void> {
    const { namespace = '', name = '' } = event.entity?.metadata ?? {};
    const key = eventKey(namespace, name, event.check?.metadata.name ?? '');
    if (event.check !== undefined && this.#store.get('events', key) !== undefined) throw new AlreadyExists();
    await this.putEvent(event, user);
  }

  async deleteEvent({ namespace, entity, check }: EventAddress, user: string): Promise<void> {
    this.#begin('deleteEvent', user);
    await this.#delete('events', eventKey(namespace, entity, check));
  }

  async createEntity(entity: Entity, user: string): Promise<void> {
    const { namespace = '', name = '' } = entity.metadata;
    if (readResource(this.#store, 'entities', namespace, name) !== undefined) throw new AlreadyExists();
    await this.putEntity(entity, user);
  }

  async putEntity(entity: Entity, user: string): Promise<void> {
    const { namespace = '', name = '' } = entity.metadata;
    this.#begin('putEntity', user, namespace);
    await this.#put('entities', entityKey(namespace, name), {
      state: stateOf(entity),
      actor: { value: 'registered', context: {} },
    });
    await this.#put('resources', resourceKey('entities', namespace, name), configOf(entity));
  }

  async editEntity(
    namespace: string,
    name: string,
    edit: (stored: EntityConfig) => EntityConfig,
    user: string,
  ): Promise<EntityConfig> {
    this.#begin('editEntity', user, namespace);
    const stored = readResource(this.#store, 'entities', namespace, name);
    if (stored === undefined) throw new NotFound();
    const edited = edit(stored);
    await this.#put('resources', resourceKey('entities', namespace, name), edited);
    return edited;
  }

  async deleteEntity(namespace: string, name: string, user: string): Promise<void> {
    this.#begin('deleteEntity', user);
    await this.#delete('resources', resourceKey('entities', namespace, name));
  }

  async createResource<K extends WritableKind>(kind: K, resource: Resources[K], user: string): Promise<void> {
    if (this.#store.get('resources', keyOf(kind, resource)) !== undefined) throw new AlreadyExists();
    await this.putResource(kind, resource, user);
  }

  async putResource<K extends WritableKind>(kind: K, resource: Resources[K], user: string): Promise<void> {
    this.#begin('putResource', user, 'metadata' in resource ? resource.metadata.namespace : undefined);
    const stored =
      'metadata' in resource ? { ...resource, metadata: { ...resource.metadata, created_by: user } } : resource;
    await this.#put('resources', keyOf(kind, resource), stored);
  }

  async editResource<K extends DescribedKind>(
    kind: K,
    { namespace, name }: ResourceAddress,
    edit: Edit<K>,
    user: string,
  ): Promise<Resources[K]> {
    const stored = readResource(this.#store, kind, namespace, name);
    if (stored === undefined) throw new NotFound();
    const edited = edit(stored);
    await this.putResource(kind, edited, user);
    return edited;
  }

  async deleteResource(kind: WritableKind, namespace: string | undefined, name: string, user: string): Promise<void> {
    this.#begin('deleteResource', user);
    if (kind === 'namespaces' && [...this.#store.range('resources', within(`checks/${name}/`))].length > 0) {
      throw new InvalidResource('resource is invalid: namespace is not empty');
    }
    await this.#delete('resources', resourceKey(kind, namespace, name));
  }

  async createSilence(silenced: Silenced, user: string): Promise<void> {
    const { namespace = '' } = silenced.metadata;
    if (readResource(this.#store, 'silenced', namespace, silencedName(silenced)) !== undefined) {
      throw new AlreadyExists();
    }
    await this.putSilence(silenced, user);
  }

  async putSilence(silenced: Silenced, user: string): Promise<void> {
    const { namespace = '' } = silenced.metadata;
    const name = silencedName(silenced);
    this.#begin('putSilence', user, namespace);
    const metadata = { ...silenced.metadata, name, created_by: user };
    const record: SilenceRecord = {
      ...withTimes(silenced, ISSUED_S, NO_SILENCE_LIMITS),
      metadata,
      creator: user,
      state: 'active',
    };
    await this.#put('resources', resourceKey('silenced', namespace, name), record);
  }

  async deleteSilence(namespace: string, name: string, user: string): Promise<void> {
    this.#begin('deleteSilence', user);
    await this.#delete('resources', resourceKey('silenced', namespace, name));
  }

  executeCheck(namespace: string, name: string, request: AdhocRequest, user: string): Promise<number> {
    this.#begin(`executeCheck ${namespace}/${name} ${JSON.stringify(request)}`, user);
    if (readResource(this.#store, 'checks', namespace, name) === undefined) throw new NotFound();
    return Promise.resolve(ISSUED_S);
  }

  async createUser(created: User, user: string): Promise<void> {
    if (readResource(this.#store, 'users', undefined, created.username) !== undefined) throw new AlreadyExists();
    await this.putUser(created, user);
  }

  async putUser(replacing: User, user: string): Promise<void> {
    this.#begin('putUser', user);
    await this.#put('resources', resourceKey('users', undefined, replacing.username), replacing);
  }

  editUser(username: string, edit: UserEdit, user: string): Promise<void> {
    this.#begin(`editUser ${username} ${edit.type}`, user);
    if (readResource(this.#store, 'users', undefined, username) === undefined) throw new NotFound();
    return Promise.resolve();
  }

  putTessen(tessen: Tessen, user: string): Promise<void> {
    this.#begin('putTessen', user);
    return this.#put('resources', TESSEN_KEY, tessen);
  }

  async openTokenSession(username: string, _verifiedHash: string, opened: TokenSession): Promise<boolean> {
    await this.#putSessions(username, withSession(this.#sessionsOf(username), opened, opened.current.issuedAtMs));
    return true;
  }

  async refreshTokenSession(username: string, request: RefreshRequest): Promise<RefreshOutcome> {
    const { outcome, after } = refreshed(this.#sessionsOf(username), request);
    await this.#putSessions(username, after);
    return outcome;
  }

  endTokenSession(username: string, session: string): Promise<void> {
    return this.#putSessions(username, withoutSession(this.#sessionsOf(username), session));
  }

  #sessionsOf(username: string): TokenSessions {
    return readTokenSessions(this.#store, username) ?? NO_SESSIONS;
  }

  #putSessions(username: string, sessions: TokenSessions): Promise<void> {
    return this.#put('resources', tokenSessionsKey(username), sessions);
  }

  wake(actor: WakeableActor, key: string, user: string): Promise<void> {
    this.#begin(`wake ${actor} ${key}`, user);
    return Promise.resolve();
  }

  #begin(command: string, user: string, namespace?: string): void {
    this.calls.push(`${command} ${user}`);
    const { failure } = this;
    this.failure = undefined;
    if (failure !== undefined) throw failure;
    if (namespace !== undefined && readResource(this.#store, 'namespaces', undefined, namespace) === undefined) {
      throw new NotFound(`the namespace ${namespace} does not exist`);
    }
  }

  async #put<T extends TableName>(table: T, key: string, value: Tables[T] | null): Promise<void> {
    const puts = emptyPuts();
    puts[table].set(key, value);
    await this.#store.write({ puts, ledger: [] });
  }

  async #delete(table: TableName, key: string): Promise<void> {
    if (this.#store.get(table, key) === undefined) throw new NotFound();
    await this.#put(table, key, null);
  }
}

const within = (prefix: string) => ({ from: prefix, to: `${prefix.slice(0, -1)}0` });

const keyOf = <K extends WritableKind>(kind: K, resource: Resources[K]): string =>
  'name' in resource
    ? resourceKey(kind, undefined, resource.name)
    : resourceKey(kind, resource.metadata.namespace, resource.metadata.name ?? '');
