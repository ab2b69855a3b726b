import type { AdhocRequest } from '../../resources/adhoc-request.ts';
import type { ConfigurationKinds } from '../../resources/configuration-kinds.ts';
import type { Entity, EntityConfig } from '../../resources/entity.ts';
import { NotFound } from '../../resources/errors.ts';
import type { Event } from '../../resources/event.ts';
import type { Silenced } from '../../resources/silenced.ts';
import type { Tessen } from '../../resources/tessen.ts';
import type { User } from '../../resources/user.ts';
import type { RefreshOutcome, RefreshRequest, TokenSession } from '../../rules/token-sessions.ts';
import { type EventAddress, entityKey } from '../../store/keyspace.ts';
import { readResource, type Resources } from '../../store/resource-store.ts';
import type {
  Commands,
  DescribedKind,
  Edit,
  ResourceAddress,
  UserEdit,
  WakeableActor,
  WritableKind,
} from './commands.ts';
import type { Decider } from '../core/decider.ts';
import { createEntity, deleteEntity, editEntity, putEntity } from './entity-changes.ts';
import { createEvent, deleteStoredEvent, putEvent } from './event-changes.ts';
import {
  type CheckEvents,
  createResource,
  deleteDescribed,
  deleteNamespace,
  editResource,
  putResource,
  putTessen,
} from './resource-changes.ts';
import { executeCheck } from '../schedules/schedules.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import { createSilence, deleteSilence, putSilence } from './silence-changes.ts';
import { endTokenSession, openTokenSession, refreshTokenSession } from './token-session-changes.ts';
import { createUser, editUser, putUser } from './user-changes.ts';

export interface AdministrationPorts extends CheckEvents {
  decider: Decider;
  configurationKinds: ConfigurationKinds;
  wake(actor: WakeableActor, key: string): boolean;
  /** Whether the entity's agent has a connection. */
  isConnected(namespace: string, entity: string): boolean;
}

/** What people change, each change one decision with the user as its cause. */
export class Administration implements Commands {
  readonly #ports: AdministrationPorts;

  constructor(ports: AdministrationPorts) {
    this.#ports = ports;
  }

  async putEvent(event: Event, user: string): Promise<void> {
    await this.#decideEvent(user, (ctx) => {
      putEvent(ctx, event, user);
    });
  }

  async createEvent(event: Event, user: string): Promise<void> {
    await this.#decideEvent(user, (ctx) => {
      createEvent(ctx, event, user);
    });
  }

  async deleteEvent(address: EventAddress, user: string): Promise<void> {
    await this.#decide(user, (ctx) => {
      deleteStoredEvent(ctx, address);
    });
  }

  async createEntity(entity: Entity, user: string): Promise<void> {
    await this.#decide(user, (ctx) => {
      createEntity(ctx, entity, this.#isConnected(entity));
    });
  }

  async putEntity(entity: Entity, user: string): Promise<void> {
    await this.#decide(user, (ctx) => {
      putEntity(ctx, entity, this.#isConnected(entity));
    });
  }

  async editEntity(
    namespace: string,
    name: string,
    edit: (stored: EntityConfig) => EntityConfig,
    user: string,
  ): Promise<EntityConfig> {
    const { result: edited, durable } = this.#ports.decider.decide({ cause: { user } }, (ctx) => {
      return editEntity(ctx, { namespace, name }, edit, this.#ports.isConnected(namespace, name));
    });
    await durable;
    return edited;
  }

  async deleteEntity(namespace: string, name: string, user: string): Promise<void> {
    const { result: existed, durable } = this.#ports.decider.decide({ cause: { user } }, (ctx) => {
      return deleteEntity(ctx, namespace, name);
    });
    await durable;
    if (!existed) throw new NotFound('not found');
  }

  async createResource<K extends WritableKind>(kind: K, resource: Resources[K], user: string): Promise<void> {
    await this.#decide(user, (ctx) => {
      createResource(ctx, kind, resource, user);
    });
  }

  async putResource<K extends WritableKind>(kind: K, resource: Resources[K], user: string): Promise<void> {
    await this.#decide(user, (ctx) => {
      putResource(ctx, kind, resource, user);
    });
  }

  async editResource<K extends DescribedKind>(
    kind: K,
    address: ResourceAddress,
    edit: Edit<K>,
    user: string,
  ): Promise<Resources[K]> {
    const { result: stored, durable } = this.#ports.decider.decide({ cause: { user } }, (ctx) => {
      return editResource(ctx, kind, address, edit);
    });
    await durable;
    return stored;
  }

  async deleteResource(kind: WritableKind, namespace: string | undefined, name: string, user: string): Promise<void> {
    await this.#decide(user, (ctx) => {
      if (readResource(ctx.decision, kind, namespace, name) === undefined) throw new NotFound('not found');
      if (kind === 'namespaces') deleteNamespace(ctx, name, this.#ports.configurationKinds);
      else deleteDescribed(ctx, kind, { namespace, name }, this.#ports);
    });
  }

  async createSilence(silenced: Silenced, user: string): Promise<void> {
    await this.#decide(user, (ctx) => {
      createSilence(ctx, silenced, user);
    });
  }

  async putSilence(silenced: Silenced, user: string): Promise<void> {
    await this.#decide(user, (ctx) => {
      putSilence(ctx, silenced, user);
    });
  }

  async deleteSilence(namespace: string, name: string, user: string): Promise<void> {
    await this.#decide(user, (ctx) => {
      deleteSilence(ctx, namespace, name);
    });
  }

  async putTessen(tessen: Tessen, user: string): Promise<void> {
    await this.#decide(user, (ctx) => {
      putTessen(ctx, tessen);
    });
  }

  async executeCheck(namespace: string, name: string, request: AdhocRequest, user: string): Promise<number> {
    const { result: issuedS, durable } = this.#ports.decider.decide({ cause: { user }, feedsHandlers: true }, (ctx) => {
      return executeCheck(ctx, entityKey(namespace, name), request);
    });
    await durable;
    return issuedS;
  }

  async createUser(created: User, user: string): Promise<void> {
    await this.#decide(user, (ctx) => {
      createUser(ctx, created);
    });
  }

  async putUser(replacing: User, user: string): Promise<void> {
    await this.#decide(user, (ctx) => {
      putUser(ctx, replacing);
    });
  }

  async editUser(username: string, edit: UserEdit, user: string): Promise<void> {
    await this.#decide(user, (ctx) => {
      editUser(ctx, username, edit);
    });
  }

  openTokenSession(username: string, verifiedHash: string, opened: TokenSession): Promise<boolean> {
    return this.#decideSession(username, (ctx) => openTokenSession(ctx, username, verifiedHash, opened));
  }

  refreshTokenSession(username: string, request: RefreshRequest): Promise<RefreshOutcome> {
    return this.#decideSession(username, (ctx) => refreshTokenSession(ctx, username, request));
  }

  async endTokenSession(username: string, session: string): Promise<void> {
    await this.#decideSession(username, (ctx) => {
      endTokenSession(ctx, username, session);
    });
  }

  async wake(actor: WakeableActor, key: string, user: string): Promise<void> {
    if (!this.#ports.wake(actor, key)) throw new NotFound('not found');
    await this.#decide(user, (ctx) => {
      ctx.record({ actor, key, from: null, event: 'wake.requested', to: null });
    });
  }

  #isConnected({ metadata: { namespace = '', name = '' } }: Entity): boolean {
    return this.#ports.isConnected(namespace, name);
  }

  /** Whoever wants to see why so much waits has to come in first. */
  async #decideSession<T>(user: string, run: (ctx: DecisionContext) => T): Promise<T> {
    const { result, durable } = this.#ports.decider.decide({ cause: { user }, unbounded: true }, run);
    await durable;
    return result;
  }

  async #decide(user: string, run: (ctx: DecisionContext) => void): Promise<void> {
    await this.#ports.decider.decide({ cause: { user } }, run).durable;
  }

  async #decideEvent(user: string, run: (ctx: DecisionContext) => void): Promise<void> {
    await this.#ports.decider.decide({ cause: { user }, feedsHandlers: true }, run).durable;
  }
}
