import type { ConnectionEvent } from '../../machines/agent-connection.ts';
import type { Log } from '../../ports/log.ts';
import type { QueueStats } from '../../ports/queue-stats.ts';
import { withOwnSubscription } from '../../resources/entity.ts';
import { EntityLimitReached, InvalidResource, StoreUnavailable } from '../../resources/errors.ts';
import { type CheckEvent, type Event, hasCheck } from '../../resources/event.ts';
import type { Source } from '../../store/decision.ts';
import { entityKey } from '../../store/keyspace.ts';
import { readResource } from '../../store/resource-store.ts';
import { countUp } from './agent-queues.ts';
import type { Decider } from '../core/decider.ts';
import { DroppedProxies } from './dropped-proxies.ts';
import { assertMayWrite, assertOwnKeepalive, assertOwnNamespace, NotOwner } from './event-ownership.ts';
import { receiveKeepalive } from './keepalives.ts';
import { mergeEvent } from '../events/merge-event.ts';
import type { OpenSessions } from './open-sessions.ts';
import { publishMetrics } from '../events/publish.ts';
import { repairClass } from './registration.ts';
import { deleteEvent } from '../events/delete-event.ts';
import type { DecisionContext } from '../core/decision-context.ts';

/** What sessions tell: when that is, is said here. */
type Told = ConnectionEvent extends infer E ? (E extends { deadlineAtMs: number } ? never : Omit<E, 'atMs'>) : never;

/** An event as a connection got it. */
export interface SentEvent {
  event: Event;
  /** Numbers the event in the agent's queue: one at or below the highest known is acknowledged again and changes nothing. */
  n: number | undefined;
  /** Its bytes, where they are protobuf. */
  encoded: Buffer | undefined;
}

/** One connection, as the actors know it. */
export interface AgentSession extends Source {
  readonly id: string;
  readonly namespace: string;
  readonly agentName: string;
  /** The agent's queue, when its events are numbered. */
  readonly queueId: string | undefined;
  /** How long nothing was heard, ms; time in which nothing was read does not count. */
  silentMs(): number;
  ping(): void;
  close(code: number, reason: string): void;
  terminate(): void;
  /** The connection's actor has come to this state. */
  entered(state: string): void;
}

/** What an agent's connection may ask: the only way from the agent port to the actors. */
export class AgentPort {
  readonly #decider: Decider;
  readonly #sessions: OpenSessions<AgentSession>;
  readonly #log: Log;
  readonly #droppedProxies: DroppedProxies;
  /** Why something of a session was refused, as far as it is on record. */
  readonly #onRecord = new WeakMap<AgentSession, Set<string>>();
  /** Sessions whose entity is gone: what still comes before they are closed is of nobody. */
  readonly #orphaned = new WeakSet<AgentSession>();
  /** What could not be decided, of each connection in order. */
  #untold = new Map<string, Told[]>();

  constructor(decider: Decider, sessions: OpenSessions<AgentSession>, log: Log) {
    this.#decider = decider;
    this.#sessions = sessions;
    this.#log = log;
    this.#droppedProxies = new DroppedProxies(log);
  }

  session(id: string): AgentSession | undefined {
    return this.#sessions.get(id);
  }

  /** Whether an agent of that name has a connection. */
  isConnected(namespace: string, agentName: string): boolean {
    return this.#sessions.isConnected(namespace, agentName);
  }

  /** Entities whose events were dropped at the entity limit, as far as they are remembered. */
  get droppedProxies(): QueueStats {
    return this.#droppedProxies.remembered;
  }

  /** Connections that could not be told something while the store cannot be written. */
  get untold(): number {
    return this.#untold.size;
  }

  /** @throws StoreUnavailable */
  open(session: AgentSession): void {
    const { id, namespace, agentName } = session;
    this.#decider.decide({ cause: { session: id }, source: session, unbounded: true }, (ctx) => {
      ctx.details = { namespace, agentName };
      const { snapshot } = ctx.create('connection', id, { key: id, atMs: ctx.steadyMs }, 'socket.opened');
      if (snapshot === undefined) return;
      ctx.put('sessions', id, { namespace, agentName, openedAtMs: ctx.nowMs, actor: snapshot });
      repairClass(ctx, namespace, agentName);
    });
    this.#sessions.add(session);
  }

  /** Tells the connection's actor; kept for later while the store cannot be written. */
  tell(id: string, event: Told): void {
    const session = this.#sessions.get(id);
    if (event.type === 'entity.deleted' && session !== undefined) this.#orphaned.add(session);
    try {
      this.#decider.decide({ cause: { session: id }, unbounded: true }, (ctx) => {
        const told = { ...event, atMs: ctx.steadyMs };
        if (event.type === 'entity.deleted' && session !== undefined) removeLateEvents(ctx, session);
        this.#advance(ctx, id, told);
      });
    } catch (error) {
      if (error instanceof StoreUnavailable) {
        this.#keep(id, event);
      } else {
        // Whoever tells is a socket or a timer: an actor that failed is on record, and the connection goes on.
        this.#log.error({ session: id, event: event.type, err: error }, 'connection could not be told');
      }
    }
  }

  /** Once: to be told it twice would change nothing. */
  #keep(id: string, event: Told): void {
    const kept = this.#untold.get(id);
    if (kept === undefined) this.#untold.set(id, [event]);
    else if (!kept.some(({ type }) => type === event.type)) kept.push(event);
  }

  /** The connection's deadline has come. */
  due(ctx: DecisionContext, id: string, deadlineAtMs: number, atMs: number): void {
    const silentMs = Math.round(this.#sessions.get(id)?.silentMs() ?? 0);
    this.#advance(ctx, id, { type: 'deadline.reached', deadlineAtMs, atMs, silentMs });
  }

  #advance(ctx: DecisionContext, id: string, event: ConnectionEvent): void {
    const record = ctx.get('sessions', id);
    if (record === undefined) {
      // Its opening was lost with a batch: there is nothing to end.
      if (event.type === 'socket.closed') this.#sessions.delete(id);
      return;
    }
    if (event.type === 'socket.closed') ctx.details = { code: event.code };
    const sent = ctx.send('connection', id, event);
    if (sent === undefined) return;
    const session = this.#sessions.get(id);
    if (sent.snapshot === undefined) {
      ctx.delete('sessions', id);
      this.#sessions.delete(id);
    } else {
      ctx.put('sessions', id, { ...record, actor: sent.snapshot });
    }
    session?.entered(sent.state);
  }

  /** Writes work again: what could not be decided meanwhile is. */
  recovered(): void {
    const untold = this.#untold;
    this.#untold = new Map();
    for (const [id, events] of untold) {
      for (const event of events) this.tell(id, event);
    }
  }

  /** The end of sessions whose process is gone. */
  closeForgotten(ctx: DecisionContext, id: string): void {
    this.#advance(ctx, id, { type: 'process.restarted' });
  }

  /** Asks every connection to close; resolves at once, the sockets close by themselves. */
  closeAll(): void {
    for (const id of this.#sessions.ids()) this.tell(id, { type: 'shutdown.requested' });
  }

  /** @throws InvalidResource, NotOwner, EntityLimitReached */
  receiveEvent(session: AgentSession, { event, n, encoded }: SentEvent): void {
    if (this.#orphaned.has(session)) return;
    this.#asOwner(session, () => {
      assertOwnNamespace(session, event);
      this.#decide(session, event.id, n, (ctx) => {
        assertNamespaceExists(ctx, session.namespace);
        assertMayWrite(ctx, session, event);
        if (hasCheck(event)) this.#merge(ctx, session, event, encoded);
        else publishMetrics(ctx, event);
      });
    });
  }

  #merge(ctx: DecisionContext, session: AgentSession, event: CheckEvent, encoded: Buffer | undefined): void {
    const complete = received(ctx, event);
    try {
      mergeEvent(ctx, complete, { trustsSentHistory: true, encoded: complete === event ? encoded : undefined });
    } catch (error) {
      if (error instanceof EntityLimitReached) {
        this.#droppedProxies.note(error.entity, session.agentName, ctx.steadyMs);
      }
      throw error;
    }
  }

  /** @throws InvalidResource, NotOwner, and EntityLimitReached, which ends the session: its agent was new when it came. */
  receiveKeepalive(session: AgentSession, event: Event): void {
    if (this.#orphaned.has(session)) return;
    this.#asOwner(session, () => {
      assertOwnNamespace(session, event);
      if (!hasCheck(event)) throw new InvalidResource('keepalive must contain a check');
      if (event.entity.entity_class !== 'agent') throw new InvalidResource('keepalive entity must be of class agent');
      assertOwnKeepalive(session, event);
      try {
        this.#decide(session, event.id, undefined, (ctx) => {
          assertNamespaceExists(ctx, session.namespace);
          receiveKeepalive(ctx, event, ctx.get('sessions', session.id)?.openedAtMs);
        });
      } catch (error) {
        if (error instanceof EntityLimitReached) this.tell(session.id, { type: 'registration.refused' });
        throw error;
      }
    });
  }

  /** What a session may not write is on record, once for each reason. */
  #asOwner(session: AgentSession, receive: () => void): void {
    try {
      receive();
    } catch (error) {
      if (error instanceof NotOwner) this.#record(session, error);
      throw error;
    }
  }

  #record(session: AgentSession, { reason, claimed }: NotOwner): void {
    const { id, namespace, agentName } = session;
    const reasons = this.#onRecord.get(session) ?? new Set();
    if (reasons.has(reason)) return;
    this.#decider.decide({ cause: { session: id }, source: session, unbounded: true }, (ctx) => {
      const key = entityKey(namespace, agentName);
      ctx.record({ actor: 'agent', key, from: null, event: 'write.refused', to: null, details: { reason, claimed } });
    });
    this.#onRecord.set(session, reasons.add(reason));
  }

  /** A numbered event that was refused is done with: it must not be sent again. */
  acknowledgeRefused(session: AgentSession, n: number): void {
    this.#decide(session, null, n, () => undefined);
  }

  #decide(
    session: AgentSession,
    eventId: string | null,
    n: number | undefined,
    run: (ctx: DecisionContext) => void,
  ): void {
    const cause = eventId === null ? { session: session.id } : { eventId };
    this.#decider.decide({ cause, source: session, acknowledge: n, unbounded: true }, (ctx) => {
      if (n === undefined || countUp(ctx, session, n)) run(ctx);
    });
  }
}

/** What a session sent of its entity between the deletion and its announcement, unless the agent has registered anew. */
function removeLateEvents(ctx: DecisionContext, { namespace, agentName }: AgentSession): void {
  if (readResource(ctx.decision, 'entities', namespace, agentName) !== undefined) return;
  const prefix = `${entityKey(namespace, agentName)}/`;
  for (const key of ctx.decision.keys('events', prefix)) deleteEvent(ctx, key, 'entity.deleted');
}

/** As an agent's event is merged: with the subscription every entity holds, and the time of receipt where it has none. */
function received(ctx: DecisionContext, event: CheckEvent): CheckEvent {
  const entity = withOwnSubscription(event.entity);
  if (entity === event.entity && event.timestamp !== 0) return event;
  const timestamp = event.timestamp === 0 ? ctx.nowS : event.timestamp;
  return { ...event, entity, timestamp };
}

/** It may have been deleted while the session was open. @throws InvalidResource */
function assertNamespaceExists(ctx: DecisionContext, namespace: string): void {
  if (readResource(ctx.decision, 'namespaces', undefined, namespace) === undefined) {
    throw new InvalidResource(`namespace ${namespace} does not exist`);
  }
}
