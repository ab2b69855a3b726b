import type { MaxAge } from '../aggregates/aggregate.ts';
import type { Aggregates } from '../aggregates/aggregates.ts';
import type { AdhocRequest } from '../../resources/adhoc-request.ts';
import type { ConfigurationKinds } from '../../resources/configuration-kinds.ts';
import type { Entity, EntityConfig } from '../../resources/entity.ts';
import { NotFound } from '../../resources/errors.ts';
import type { Event } from '../../resources/event.ts';
import type { Silenced } from '../../resources/silenced.ts';
import type { Tessen } from '../../resources/tessen.ts';
import type { User } from '../../resources/user.ts';
import type { RefreshRequest, TokenSession } from '../../rules/token-sessions.ts';
import { type EventAddress, entityKey } from '../../store/encoding/keyspace.ts';
import type { Resources } from '../../store/resource-store.ts';
import type { Stash } from '../../store/stash-store.ts';
import type { Decider, Input } from '../core/decider.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import { DELETED_PER_STEP } from '../events/begin-deletion.ts';
import { resolveEvent } from '../events/resolve-event.ts';
import { refuseEntity } from '../entities/refused-entities.ts';
import { executeCheck } from '../schedules/schedules.ts';
import { leaveAggregate, recordDeletedAggregate } from './aggregate-changes.ts';
import { createEntity, deleteEntity, editEntity, putEntity } from './entity-changes.ts';
import { createEvent, deleteResults, deleteStoredEvent, putEvent } from './event-changes.ts';
import {
  type CheckEvents,
  createResource,
  deleteResource,
  type DescribedKind,
  type Edit,
  editResource,
  putResource,
  putTessen,
  type ResourceAddress,
  type WritableKind,
} from './resource-changes.ts';
import { replayNotification } from './notification-changes.ts';
import { deleteStash, putStash } from './stash-changes.ts';
import { createSilence, deleteSilence, putSilence } from './silence-changes.ts';
import { endTokenSession, openTokenSession, refreshTokenSession } from './token-session-changes.ts';
import { createUser, editUser, putUser, type UserEdit } from './user-changes.ts';

/** The actors that the command `wake` accepts, under their names in the ledger. */
export const WAKEABLE_ACTORS = ['entity', 'check-ttl', 'check-schedule'] as const;
export type WakeableActor = (typeof WAKEABLE_ACTORS)[number];

export interface CommandPorts extends CheckEvents {
  decider: Decider;
  /** The keys of the events whose results are members of an aggregate. */
  aggregates: Pick<Aggregates, 'has' | 'keys'>;
  configurationKinds: ConfigurationKinds;
  /** False when there is no such actor. */
  wake(actor: WakeableActor, key: string, user: string): boolean;
  /** Whether the agent of the entity is connected. */
  isConnected(namespace: string, entity: string): boolean;
}

/**
 * The commands of people and programs to the running system. Each command is one decision. Its promise resolves when the decision
 * is durable; if it rejects, nothing was stored. The ledger names `user` as the cause.
 * @throws InvalidResource, NotFound, AlreadyExists, StoreUnavailable, Overloaded
 */
export type Commands = ReturnType<typeof makeCommands>;

/** The table of commands: the name of each, its input, its cause and what it changes. */
export function makeCommands(ports: CommandPorts) {
  const { decider } = ports;
  async function decide<T>(user: string, run: (ctx: DecisionContext) => T, options?: Omit<Input, 'cause'>): Promise<T> {
    const { result, durable } = decider.decide({ cause: { user }, ...options }, run);
    await durable;
    return result;
  }
  const isConnected = ({ metadata: { namespace = '', name = '' } }: Entity): boolean =>
    ports.isConnected(namespace, name);

  return {
    /** Creates the event of an entity and check, or updates it. The event has passed `assertEvent`. @throws EntityLimitReached for a new proxy entity */
    putEvent: (event: Event, user: string) => decide(user, (ctx) => putEvent(ctx, event, user), FEEDS_HANDLERS),

    /** @throws AlreadyExists when the entity and check have an event; events without a check never conflict and are not stored */
    createEvent: (event: Event, user: string) => decide(user, (ctx) => createEvent(ctx, event, user), FEEDS_HANDLERS),

    /** Disarms its check TTL. To delete the event `keepalive` ends the monitoring of the entity until its next keepalive. @throws NotFound */
    deleteEvent: (address: EventAddress, user: string) => decide(user, (ctx) => deleteStoredEvent(ctx, address), FREES),

    /** Deletes the results of a check in steps. Its open events stay, without the history of their results. */
    deleteResultsOfCheck: async (namespace: string, check: string, user: string): Promise<void> => {
      const keys = [...(ports.eventKeysOfCheck(namespace, check, Infinity) ?? [])];
      for (let index = 0; index < keys.length; index += DELETED_PER_STEP) {
        const step = keys.slice(index, index + DELETED_PER_STEP);
        await decide(user, (ctx) => deleteResults(ctx, { namespace, check, keys: step }), UNBOUNDED);
      }
    },

    /**
     * Merges a passing result into an open event, for which handlers run as for any other result, and disarms its check TTL.
     * @throws NotFound when the event is not open
     */
    resolveEvent: (address: EventAddress, user: string) =>
      decide(user, (ctx) => resolveEvent(ctx, address), FEEDS_HANDLERS),

    /**
     * Removes the members that an aggregate has now, or those of them that are stale by their age, in steps. A result that joins
     * meanwhile may stay. @throws NotFound
     */
    deleteAggregate: async (namespace: string, name: string, user: string, age?: MaxAge): Promise<void> => {
      if (!ports.aggregates.has(namespace, name)) throw new NotFound('not found');
      const keys = ports.aggregates.keys(namespace, name, age);
      if (keys.length === 0) return;
      const pruned = age && { beforeS: age.nowS - age.maxAgeS };
      await decide(user, (ctx) => recordDeletedAggregate(ctx, { namespace, name, members: keys.length, pruned }));
      for (let index = 0; index < keys.length; index += DELETED_PER_STEP) {
        const step = keys.slice(index, index + DELETED_PER_STEP);
        await decide(user, (ctx) => leaveAggregate(ctx, name, step, pruned), UNBOUNDED);
      }
    },

    /** Results and keepalives do not create the entity again until `untilS`, or until an API has created it. @throws InvalidResource */
    refuseClient: (namespace: string, name: string, untilS: number | undefined, user: string) =>
      decide(user, (ctx) => refuseEntity(ctx, namespace, name, untilS ?? null)),

    /** @throws AlreadyExists, EntityLimitReached */
    createEntity: (entity: Entity, user: string) =>
      decide(user, (ctx) => createEntity(ctx, entity, isConnected(entity))),

    /** Replaces a proxy entity; of an entity of another class it replaces the configuration only. @throws AlreadyExists when its agent manages it, EntityLimitReached */
    putEntity: (entity: Entity, user: string) => decide(user, (ctx) => putEntity(ctx, entity, isConnected(entity))),

    /** Like `editResource`, but keeps the members that the agent reports. @throws AlreadyExists when its agent manages it */
    editEntity: (namespace: string, name: string, edit: (stored: EntityConfig) => EntityConfig, user: string) =>
      decide(user, (ctx) => editEntity(ctx, { namespace, name }, edit, ports.isConnected(namespace, name))),

    /** Deletes all its events and its monitors in the same decision, and its events even when there is no entity. @throws NotFound */
    deleteEntity: async (namespace: string, name: string, user: string): Promise<void> => {
      const existed = await decide(user, (ctx) => deleteEntity(ctx, namespace, name), FREES);
      if (!existed) throw new NotFound('not found');
    },

    /** Sets `created_by`. The resource is valid. @throws AlreadyExists, NotFound when the namespace does not exist, InvalidResource when the user of an API key does not */
    createResource: <K extends WritableKind>(kind: K, resource: Resources[K], user: string) =>
      decide(user, (ctx) => createResource(ctx, kind, resource, user)),

    /** Like `createResource`, for resources that may exist. */
    putResource: <K extends WritableKind>(kind: K, resource: Resources[K], user: string) =>
      decide(user, (ctx) => putResource(ctx, kind, resource, user)),

    /**
     * Replaces the stored resource by the result of `edit`, without another change in between. Its address and `created_by` stay.
     * Resolves to what is stored then. @throws NotFound, and what `edit` throws
     */
    editResource: <K extends DescribedKind>(kind: K, address: ResourceAddress, edit: Edit<K>, user: string) =>
      decide(user, (ctx) => editResource(ctx, kind, address, edit)),

    /** `namespace` is undefined for cluster-wide kinds. @throws NotFound, InvalidResource for a namespace that is not empty */
    deleteResource: (kind: WritableKind, namespace: string | undefined, name: string, user: string) =>
      decide(user, (ctx) => deleteResource(ctx, kind, { namespace, name }, ports), FREES),

    /** Sets its name, its times and its author. It acts on the next event. @throws AlreadyExists, NotFound when the namespace does not exist */
    createSilence: (silenced: Silenced, user: string) => decide(user, (ctx) => createSilence(ctx, silenced, user)),

    /** Like `createSilence`, for silences that may exist. */
    putSilence: (silenced: Silenced, user: string) => decide(user, (ctx) => putSilence(ctx, silenced, user)),

    /** @throws NotFound */
    deleteSilence: (namespace: string, name: string, user: string) =>
      decide(user, (ctx) => deleteSilence(ctx, namespace, name), FREES),

    /** Puts a dead letter back into the outbox. @throws NotFound, Conflict for a notification that is not a dead letter */
    replayNotification: (namespace: string, id: string, user: string) =>
      decide(user, (ctx) => replayNotification(ctx, namespace, id, user), FEEDS_HANDLERS),

    /** Creates or replaces a document. @throws NotFound, InvalidResource when the namespace has too many */
    putStash: (namespace: string, stash: Stash, user: string) => decide(user, (ctx) => putStash(ctx, namespace, stash)),

    /** @throws NotFound */
    deleteStash: (namespace: string, path: string, user: string) =>
      decide(user, (ctx) => deleteStash(ctx, namespace, path), FREES),

    putTessen: (tessen: Tessen, user: string) => decide(user, (ctx) => putTessen(ctx, tessen)),

    /** Requests the check from its agents once. Resolves to the time of the request, Unix seconds. @throws NotFound */
    executeCheck: (namespace: string, name: string, request: AdhocRequest, user: string) =>
      decide(user, (ctx) => executeCheck(ctx, entityKey(namespace, name), request), FEEDS_HANDLERS),

    /** `created` contains the hash of the password. @throws AlreadyExists */
    createUser: (created: User, user: string) => decide(user, (ctx) => createUser(ctx, created)),

    /** Like `createUser`, for users that may exist. */
    putUser: (replacing: User, user: string) => decide(user, (ctx) => putUser(ctx, replacing)),

    /** Disabling a user and setting a password end the user's login sessions. @throws NotFound, InvalidResource for a password that was changed meanwhile */
    editUser: (username: string, edit: UserEdit, user: string) => decide(user, (ctx) => editUser(ctx, username, edit)),

    /** Resolves to false when the user was changed since `verifiedHash` was compared with the password. */
    openTokenSession: (username: string, verifiedHash: string, opened: TokenSession) =>
      decide(username, (ctx) => openTokenSession(ctx, username, verifiedHash, opened), UNBOUNDED),

    refreshTokenSession: (username: string, request: RefreshRequest) =>
      decide(username, (ctx) => refreshTokenSession(ctx, username, request), UNBOUNDED),

    /** A session that does not exist is not an error. */
    endTokenSession: (username: string, session: string) =>
      decide(username, (ctx) => endTokenSession(ctx, username, session), UNBOUNDED),

    /** Ends the actor's quarantine, if it is in one, and wakes it. @throws NotFound when there is no such actor */
    wake: async (actor: WakeableActor, key: string, user: string): Promise<void> => {
      if (!ports.wake(actor, key, user)) throw new NotFound(`actor ${actor}:${key} not found`);
      await decide(user, (ctx) => ctx.record({ actor, key, from: null, event: 'wake.requested', to: null }));
    },
  };
}

const FEEDS_HANDLERS = { feedsHandlers: true };
/** Deletions are accepted in a store that has reached its quota. */
const FREES = { frees: true };
/** Login sessions are accepted even while too many changes wait, so that people can log in and see why. */
const UNBOUNDED = { unbounded: true };
