import type { ConnectionEvent } from '../../machines/agent-connection.ts';
import type { Log } from '../../ports/log.ts';
import type { QueueStats } from '../../ports/queue-stats.ts';
import { withOwnSubscription } from '../../resources/entity.ts';
import {
  EntityFull,
  EntityLimitReached,
  EntityRejected,
  InvalidResource,
  StoreUnavailable,
} from '../../resources/errors.ts';
import { type CheckEvent, type Event, hasCheck } from '../../resources/event.ts';
import { entityKey } from '../../store/encoding/keyspace.ts';
import { readResource } from '../../store/resource-store.ts';
import { countUp } from './agent-queues.ts';
import type { AgentSession, SentEvent, SessionEvent } from './agent-session.ts';
import { CountedConnections } from './counted-connections.ts';
import type { Decider } from '../core/decider.ts';
import { DroppedEvents } from './dropped-events.ts';
import { assertMayWrite, assertOwnKeepalive, assertOwnNamespace, NotOwner } from './event-ownership.ts';
import { receiveKeepalive } from './keepalives.ts';
import { mergeEvent } from '../events/merge-event.ts';
import type { OpenSessions } from './open-sessions.ts';
import { publishMetrics } from '../events/publish.ts';
import { announceStop, repairClass } from './registration.ts';
import { recordAgentConnected, recordAgentDisconnected } from '../ticks/agent-connections.ts';
import { deleteEvents } from '../events/deletions.ts';
import type { DecisionContext } from '../core/decision-context.ts';

/** The end of a connection, with a close code that is no longer known. */
const CLOSED: SessionEvent = { type: 'socket.closed', code: undefined };

/** The interface between the agent port and the actors. The agent port uses no other. */
export class AgentPort {
  readonly #decider: Decider;
  readonly #sessions: OpenSessions<AgentSession>;
  readonly #log: Log;
  readonly #droppedEvents: DroppedEvents;
  readonly #counted = new CountedConnections();
  /** The reasons of refused writes that the ledger already has, by session. */
  readonly #recordedReasons = new WeakMap<AgentSession, Set<string>>();
  /** Sessions whose entity was deleted. Events that arrive before they close are ignored. */
  readonly #orphaned = new WeakSet<AgentSession>();
  /** Events that could not be decided while the store failed, by connection, in order. */
  #pending = new Map<string, SessionEvent[]>();

  constructor(decider: Decider, sessions: OpenSessions<AgentSession>, log: Log) {
    this.#decider = decider;
    this.#sessions = sessions;
    this.#log = log;
    this.#droppedEvents = new DroppedEvents(log);
  }

  session(id: string): AgentSession | undefined {
    return this.#sessions.get(id);
  }

  /** Reports whether an agent of that name has a connection. */
  isConnected(namespace: string, agentName: string): boolean {
    return this.#sessions.isConnected(namespace, agentName);
  }

  /** Entities whose events were dropped at a limit, as far as they are remembered. */
  get droppedEvents(): QueueStats {
    return this.#droppedEvents.remembered;
  }

  /** The number of connections with events that wait until the store can be written. */
  get pendingConnections(): number {
    return this.#pending.size;
  }

  /** @throws StoreUnavailable */
  open(session: AgentSession): void {
    const { id, namespace, agentName, openedAtMs } = session;
    this.#decider.decide({ cause: { session: id }, source: session, unbounded: true }, (ctx) => {
      const details = { namespace, agentName };
      const isRecorded = this.#counted.opened(entityKey(namespace, agentName), id, ctx.steadyMs);
      const { snapshot } = this.#counted.run(ctx, id, () =>
        ctx.create('connection', id, { key: id, atMs: ctx.steadyMs }, 'socket.opened', details),
      );
      if (snapshot === undefined) return;
      ctx.put('sessions', id, { namespace, agentName, openedAtMs, actor: snapshot });
      if (isRecorded) recordSession(ctx, entityKey(namespace, agentName), id);
      repairClass(ctx, namespace, agentName);
      recordAgentConnected(ctx, entityKey(namespace, agentName));
    });
    this.#sessions.add(session);
  }

  /** Sends an event to the connection's actor. While the store cannot be written, the event waits. Does not throw. */
  notify(id: string, event: SessionEvent): void {
    const session = this.#sessions.get(id);
    if (event.type === 'entity.deleted' && session !== undefined) this.#orphaned.add(session);
    try {
      this.#decider.decide({ cause: { session: id }, unbounded: true }, (ctx) => {
        const timed = { ...event, atMs: ctx.steadyMs };
        if (event.type === 'entity.deleted' && session !== undefined) removeLateEvents(ctx, session);
        this.#advance(ctx, id, timed);
      });
    } catch (error) {
      // The caller is a socket or a timer and cannot handle errors. The connection continues.
      if (error instanceof StoreUnavailable) this.#keep(id, event);
      else this.#log.error({ session: id, event: event.type, err: error }, 'could not notify the connection actor');
    }
  }

  /** Keeps one event of each type: a second one would change nothing. */
  #keep(id: string, event: SessionEvent): void {
    const kept = this.#pending.get(id);
    if (kept === undefined) this.#pending.set(id, [event]);
    else if (!kept.some(({ type }) => type === event.type)) kept.push(event);
  }

  /** Handles a deadline of the connection. */
  due(ctx: DecisionContext, id: string, deadlineAtMs: number, atMs: number): void {
    const silentMs = Math.round(this.#sessions.get(id)?.silentMs() ?? 0);
    this.#advance(ctx, id, { type: 'deadline.reached', deadlineAtMs, atMs, silentMs });
  }

  #advance(ctx: DecisionContext, id: string, event: ConnectionEvent): void {
    const session = this.#sessions.get(id);
    // An open session has the data of its record, which is read only to wake the actor.
    const opened = session ?? ctx.get('sessions', id);
    const details = event.type === 'socket.closed' && event.code !== undefined ? { code: event.code } : undefined;
    const sent = opened && this.#counted.run(ctx, id, () => ctx.send('connection', id, event, details));
    if (opened === undefined || sent === undefined) {
      // The opening was lost with a failed write: there is no stored session to end.
      if (event.type === 'socket.closed') this.#sessions.delete(id);
      return;
    }
    const { namespace, agentName, openedAtMs } = opened;
    if (sent.snapshot === undefined) {
      ctx.delete('sessions', id);
      this.#sessions.delete(id);
      this.#counted.closed(id);
      if (!this.isConnected(namespace, agentName)) recordAgentDisconnected(ctx, entityKey(namespace, agentName));
    } else {
      ctx.put('sessions', id, { namespace, agentName, openedAtMs, actor: sent.snapshot });
    }
    session?.stateChanged(sent.state);
  }

  /** Records how often each agent that reconnects continually has connected, once an hour. */
  recordCounts(ctx: DecisionContext): void {
    this.#counted.record(ctx);
  }

  /** The agents whose connections are counted. */
  get countedAgents(): QueueStats {
    return this.#counted.agents;
  }

  /** Ends those of these sessions whose socket has closed, when the store has recovered: their ends may have been lost. */
  endClosed(ids: Iterable<string>): void {
    for (const id of ids) if (this.#sessions.get(id) === undefined) this.#keep(id, CLOSED);
  }

  /** Decides the pending events after the store has recovered. */
  recovered(): void {
    const pending = this.#pending;
    this.#pending = new Map();
    for (const [id, events] of pending) {
      for (const event of events) this.notify(id, event);
    }
  }

  /** Ends a stored session of an earlier process. */
  closeForgotten(ctx: DecisionContext, id: string): void {
    this.#advance(ctx, id, { type: 'process.restarted' });
  }

  /** Requests every connection to close. Returns before the sockets are closed. */
  closeAll(): void {
    for (const id of this.#sessions.ids()) this.notify(id, { type: 'shutdown.requested' });
  }

  /** @throws InvalidResource, NotOwner, EntityLimitReached, EntityFull */
  receiveEvent(session: AgentSession, sent: SentEvent): void {
    const { event, n } = sent;
    if (this.#orphaned.has(session)) return;
    this.#asOwner(session, () => {
      assertOwnNamespace(session, event);
      this.#decide(session, event.id, n, (ctx) => {
        assertNamespaceExists(ctx, session.namespace);
        assertMayWrite(ctx, session, event);
        if (hasCheck(event)) this.#merge(ctx, session, event, sent);
        else publishMetrics(ctx, event);
      });
    });
  }

  #merge(ctx: DecisionContext, session: AgentSession, event: CheckEvent, { encoded, bytes }: SentEvent): void {
    const complete = received(ctx, event);
    const sent = { atMostBytes: bytes };
    try {
      mergeEvent(ctx, complete, { trustsSentHistory: true, sent, encoded: complete === event ? encoded : undefined });
    } catch (error) {
      if (error instanceof EntityLimitReached || error instanceof EntityFull) {
        this.#droppedEvents.note(error, session.agentName, ctx.steadyMs);
      }
      throw error;
    }
  }

  /** @throws InvalidResource, NotOwner, and EntityRejected, which ends the session of a new agent */
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
          receiveKeepalive(ctx, event, session.openedAtMs);
        });
      } catch (error) {
        if (error instanceof EntityRejected) this.notify(session.id, { type: 'registration.refused' });
        throw error;
      }
    });
  }

  /** Receives the announcement of an agent that it stops. Another agent of the same name keeps the entity. */
  receiveStop(session: AgentSession): void {
    const { namespace, agentName } = session;
    if (this.#orphaned.has(session) || this.#sessions.countOf(namespace, agentName) > 1) return;
    this.#decide(session, null, undefined, (ctx) => {
      announceStop(ctx, namespace, agentName);
    });
  }

  /** Records writes that the session may not make, once for each reason. */
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
    const reasons = this.#recordedReasons.get(session) ?? new Set();
    if (reasons.has(reason)) return;
    this.#decider.decide({ cause: { session: id }, source: session, unbounded: true }, (ctx) => {
      const key = entityKey(namespace, agentName);
      ctx.record({ actor: 'agent', key, from: null, event: 'write.refused', to: null, details: { reason, claimed } });
    });
    this.#recordedReasons.set(session, reasons.add(reason));
  }

  /** Acknowledges a numbered event that was refused, so that the agent does not send it again. */
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

/** Records the session under the name of its agent: the entries of a connection are under the id of the session. */
function recordSession(ctx: DecisionContext, key: string, session: string): void {
  ctx.record({ actor: 'agent-session', key, from: null, event: 'session.opened', to: null, details: { session } });
}

/** Deletes events that arrived between the deletion of the entity and its announcement, unless the agent has registered again. */
function removeLateEvents(ctx: DecisionContext, { namespace, agentName }: AgentSession): void {
  if (readResource(ctx.decision, 'entities', namespace, agentName) !== undefined) return;
  deleteEvents(ctx, `${entityKey(namespace, agentName)}/`, 'entity.deleted');
}

/** Adds the entity's own subscription, and the time of receipt where the event has no timestamp. */
function received(ctx: DecisionContext, event: CheckEvent): CheckEvent {
  const entity = withOwnSubscription(event.entity);
  if (entity === event.entity && event.timestamp !== 0) return event;
  const timestamp = event.timestamp === 0 ? ctx.nowS : event.timestamp;
  return { ...event, entity, timestamp };
}

/** The namespace may have been deleted while the session was open. @throws InvalidResource */
function assertNamespaceExists(ctx: DecisionContext, namespace: string): void {
  if (readResource(ctx.decision, 'namespaces', undefined, namespace) === undefined) {
    throw new InvalidResource(`namespace ${namespace} does not exist`);
  }
}
