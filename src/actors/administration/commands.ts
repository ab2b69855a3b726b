import type { AdhocRequest } from '../../resources/adhoc-request.ts';
import type { ConfigurationWord } from '../../resources/configuration-kinds.ts';
import type { Entity, EntityConfig } from '../../resources/entity.ts';
import type { Event } from '../../resources/event.ts';
import type { Silenced } from '../../resources/silenced.ts';
import type { Tessen } from '../../resources/tessen.ts';
import type { User } from '../../resources/user.ts';
import type { RefreshOutcome, RefreshRequest, TokenSession } from '../../rules/token-sessions.ts';
import type { EventAddress } from '../../store/keyspace.ts';
import type { Resources } from '../../store/resource-store.ts';

/** All that have metadata and are written as they are; entities and silences have commands of their own. */
export type DescribedKind = ConfigurationWord | 'apikeys';
/** Users have commands of their own. */
export type WritableKind = DescribedKind | 'namespaces';

export interface ResourceAddress {
  /** Undefined for cluster-wide kinds. */
  namespace: string | undefined;
  name: string;
}

/** Makes the new resource of the stored one, and leaves that as it is. */
export type Edit<K extends DescribedKind> = (stored: Resources[K]) => Resources[K];

/** What is changed of a user who exists. */
export type UserEdit =
  | { type: 'user.disabled' }
  | { type: 'user.reinstated' }
  | { type: 'group.added'; group: string }
  | { type: 'group.removed'; group: string }
  | { type: 'groups.cleared' }
  | { type: 'password.reset'; passwordHash: string }
  /** By someone who knows it: `verifiedHash` is what the old password was found right by. His session is not ended with the user's others. */
  | { type: 'password.changed'; passwordHash: string; verifiedHash: string; keptSession: string | undefined };

/** The actors that `wake` knows, by the words of the ledger. */
export const WAKEABLE_ACTORS = ['entity', 'check-ttl', 'check-schedule'] as const;
export type WakeableActor = (typeof WAKEABLE_ACTORS)[number];

/**
 * What people and programs may ask of the running system. Each promise resolves when the change is durable; when it
 * rejects, nothing of it was kept. `user` is written to the ledger as the cause.
 * @throws InvalidResource, NotFound, AlreadyExists, StoreUnavailable, Overloaded
 */
export interface Commands {
  /** Creates the event of an entity and check, or updates it. The event has passed `assertEvent`. @throws EntityLimitReached for a new proxy entity */
  putEvent(event: Event, user: string): Promise<void>;
  /** @throws AlreadyExists when the entity and check have an event; events without a check never conflict and are not stored */
  createEvent(event: Event, user: string): Promise<void>;
  /** Disarms its ttl; deleting `keepalive` ends the monitoring of the entity until its next keepalive. @throws NotFound */
  deleteEvent(address: EventAddress, user: string): Promise<void>;

  /** @throws AlreadyExists, EntityLimitReached */
  createEntity(entity: Entity, user: string): Promise<void>;
  /** A proxy is replaced whole; of another class that exists only the configuration half is. @throws AlreadyExists for what an agent manages, EntityLimitReached */
  putEntity(entity: Entity, user: string): Promise<void>;
  /** As `editResource`; what its agent reports stays. @throws AlreadyExists for what an agent manages */
  editEntity(
    namespace: string,
    name: string,
    edit: (stored: EntityConfig) => EntityConfig,
    user: string,
  ): Promise<EntityConfig>;
  /** With all its events and monitors, at once. @throws NotFound */
  deleteEntity(namespace: string, name: string, user: string): Promise<void>;

  /** Validated before; sets `created_by`. @throws AlreadyExists, NotFound when the namespace does not exist, InvalidResource when the user of a key does not */
  createResource<K extends WritableKind>(kind: K, resource: Resources[K], user: string): Promise<void>;
  putResource<K extends WritableKind>(kind: K, resource: Resources[K], user: string): Promise<void>;
  /**
   * Replaces what is stored by what `edit` makes of it, in one step: nobody else writes between. Its address and
   * `created_by` stay. Resolves with what is stored then. @throws NotFound, and what `edit` throws
   */
  editResource<K extends DescribedKind>(
    kind: K,
    address: ResourceAddress,
    edit: Edit<K>,
    user: string,
  ): Promise<Resources[K]>;
  /** `namespace` is undefined for cluster-wide kinds. @throws NotFound, InvalidResource for a namespace that is not empty */
  deleteResource(kind: WritableKind, namespace: string | undefined, name: string, user: string): Promise<void>;

  /** Named after what it silences, with its times and its author; acts on the next event. @throws AlreadyExists, NotFound when the namespace does not exist */
  createSilence(silenced: Silenced, user: string): Promise<void>;
  putSilence(silenced: Silenced, user: string): Promise<void>;
  /** @throws NotFound */
  deleteSilence(namespace: string, name: string, user: string): Promise<void>;

  putTessen(tessen: Tessen, user: string): Promise<void>;

  /** The agents are asked once; resolves to when, in Unix seconds. @throws NotFound */
  executeCheck(namespace: string, name: string, request: AdhocRequest, user: string): Promise<number>;

  /** With the hash of the password. @throws AlreadyExists */
  createUser(created: User, user: string): Promise<void>;
  putUser(replacing: User, user: string): Promise<void>;
  /** To disable a user, or to set his password, ends his sessions. @throws NotFound, InvalidResource for a password that was changed meanwhile */
  editUser(username: string, edit: UserEdit, user: string): Promise<void>;

  /** Resolves to false when the user was changed since `verifiedHash` was found right. Sessions are opened, refreshed and ended even while other changes are refused because too many wait. */
  openTokenSession(username: string, verifiedHash: string, opened: TokenSession): Promise<boolean>;
  refreshTokenSession(username: string, request: RefreshRequest): Promise<RefreshOutcome>;
  /** One that is there no more is no error. */
  endTokenSession(username: string, session: string): Promise<void>;

  /** Ends the actor's quarantine, if it is in one, and wakes it. @throws NotFound when there is nothing to wake it from */
  wake(actor: WakeableActor, key: string, user: string): Promise<void>;
}
