import type { ConnectionEvent } from '../machines/agent-connection.ts';
import type { Log } from '../ports/log.ts';
import { withOwnSubscription } from '../resources/entity.ts';
import { InvalidResource, StoreUnavailable } from '../resources/errors.ts';
import { type CheckEvent, type Event, hasCheck } from '../resources/event.ts';
import type { Source } from '../store/decision.ts';
import { entityKey } from '../store/keyspace.ts';
import type { AgentQueue } from '../store/records.ts';
import { readResource } from '../store/resource-store.ts';
import type { Decider } from './decide.ts';
import { receiveKeepalive } from './keepalives.ts';
import { mergeEvent } from './merge-event.ts';
import { publishEvent } from './publish.ts';
import type { Scope } from './scope.ts';

/** Queues remembered per agent; an agent makes a new one at each start. */
const MAX_QUEUES_PER_AGENT = 8;

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
  readonly #sessions = new Map<string, AgentSession>();
  readonly #log: Log;
  #afterRecovery: (() => void)[] = [];

  constructor(decider: Decider, log: Log) {
    this.#decider = decider;
    this.#log = log;
  }

  session(id: string): AgentSession | undefined {
    return this.#sessions.get(id);
  }

  /** @throws StoreUnavailable */
  open(session: AgentSession): void {
    const { id, namespace, agentName } = session;
    this.#decider.decide({ cause: { session: id }, source: session, unbounded: true }, (scope) => {
      scope.details = { namespace, agentName };
      const { snapshot } = scope.create('connection', id, { key: id, atMs: scope.steadyMs }, 'socket.opened');
      if (snapshot === undefined) return;
      scope.put('sessions', id, { namespace, agentName, openedAtMs: scope.nowMs, actor: snapshot });
    });
    this.#sessions.set(id, session);
  }

  /** Tells the connection's actor; kept for later while the store cannot be written. */
  tell(id: string, event: Told): void {
    try {
      this.#decider.decide({ cause: { session: id }, unbounded: true }, (scope) => {
        const told = { ...event, atMs: scope.steadyMs };
        this.#advance(scope, id, told);
      });
    } catch (error) {
      if (error instanceof StoreUnavailable) {
        this.#afterRecovery.push(() => {
          this.tell(id, event);
        });
      } else {
        // Whoever tells is a socket or a timer: an actor that failed is on record, and the connection goes on.
        this.#log.error({ session: id, event: event.type, err: error }, 'connection could not be told');
      }
    }
  }

  /** The connection's deadline has come. */
  due(scope: Scope, id: string, deadlineAtMs: number, atMs: number): void {
    const silentMs = Math.round(this.#sessions.get(id)?.silentMs() ?? 0);
    this.#advance(scope, id, { type: 'deadline.reached', deadlineAtMs, atMs, silentMs });
  }

  #advance(scope: Scope, id: string, event: ConnectionEvent): void {
    const record = scope.get('sessions', id);
    if (record === undefined) {
      // Its opening was lost with a batch: there is nothing to end.
      if (event.type === 'socket.closed') this.#sessions.delete(id);
      return;
    }
    if (event.type === 'socket.closed') scope.details = { code: event.code };
    const sent = scope.send('connection', id, event);
    if (sent === undefined) return;
    const session = this.#sessions.get(id);
    if (sent.snapshot === undefined) {
      scope.delete('sessions', id);
      this.#sessions.delete(id);
    } else {
      scope.put('sessions', id, { ...record, actor: sent.snapshot });
    }
    session?.entered(sent.state);
  }

  /** Writes work again: what could not be decided meanwhile is. */
  recovered(): void {
    const waiting = this.#afterRecovery;
    this.#afterRecovery = [];
    for (const tell of waiting) tell();
  }

  /** The end of sessions whose process is gone. */
  closeForgotten(scope: Scope, id: string): void {
    this.#advance(scope, id, { type: 'process.restarted' });
  }

  /** Asks every connection to close; resolves at once, the sockets close by themselves. */
  closeAll(): void {
    for (const id of this.#sessions.keys()) this.tell(id, { type: 'shutdown.requested' });
  }

  /** @throws InvalidResource */
  receiveEvent(session: AgentSession, { event, n, encoded }: SentEvent): void {
    assertNamespace(session, event);
    this.#decide(session, event.id, n, (scope) => {
      assertNamespaceExists(scope, session.namespace);
      if (!hasCheck(event)) {
        publishEvent(scope, event);
        return;
      }
      const complete = received(scope, event);
      mergeEvent(scope, complete, {
        trustsSentHistory: true,
        encoded: complete === event ? encoded : undefined,
      });
    });
  }

  /** @throws InvalidResource */
  receiveKeepalive(session: AgentSession, event: Event): void {
    assertNamespace(session, event);
    if (!hasCheck(event)) throw new InvalidResource('keepalive must contain a check');
    const { entity } = event;
    if (entity.entity_class !== 'agent') throw new InvalidResource('keepalive entity must be of class agent');
    if (entity.metadata.name !== session.agentName) {
      throw new InvalidResource('keepalive entity must have the name of the session');
    }
    this.#decide(session, event.id, undefined, (scope) => {
      assertNamespaceExists(scope, session.namespace);
      receiveKeepalive(scope, event);
    });
  }

  /** A numbered event that was refused is done with: it must not be sent again. */
  acknowledgeRefused(session: AgentSession, n: number): void {
    this.#decide(session, null, n, () => undefined);
  }

  #decide(session: AgentSession, eventId: string | null, n: number | undefined, run: (scope: Scope) => void): void {
    const cause = eventId === null ? { session: session.id } : { eventId };
    this.#decider.decide({ cause, source: session, acknowledge: n, unbounded: true }, (scope) => {
      if (n === undefined || countUp(scope, session, n)) run(scope);
    });
  }
}

/** Whether number `n` of the session's queue is new; remembers it. */
function countUp(scope: Scope, { namespace, agentName, queueId }: AgentSession, n: number): boolean {
  if (queueId === undefined) return true;
  const key = entityKey(namespace, agentName);
  const queues = scope.get('agentQueues', key) ?? [];
  const known = queues.find(({ id }) => id === queueId)?.n ?? 0;
  if (n <= known) return false;
  const others: AgentQueue[] = queues.filter(({ id }) => id !== queueId);
  scope.put('agentQueues', key, [{ id: queueId, n }, ...others].slice(0, MAX_QUEUES_PER_AGENT));
  return true;
}

/** As an agent's event is merged: with the subscription every entity holds, and the time of receipt where it has none. */
function received(scope: Scope, event: CheckEvent): CheckEvent {
  const entity = withOwnSubscription(event.entity);
  if (entity === event.entity && event.timestamp !== 0) return event;
  const timestamp = event.timestamp === 0 ? scope.nowS : event.timestamp;
  return { ...event, entity, timestamp };
}

/** A session speaks for its namespace only. @throws InvalidResource */
function assertNamespace({ namespace }: AgentSession, { entity, check, metadata }: Event): void {
  for (const named of [entity?.metadata.namespace, check?.metadata.namespace, metadata.namespace]) {
    if (named !== undefined && named !== namespace) {
      throw new InvalidResource(`namespace ${named} is not the namespace of the session`);
    }
  }
}

/** It may have been deleted while the session was open. @throws InvalidResource */
function assertNamespaceExists(scope: Scope, namespace: string): void {
  if (readResource(scope.decision, 'namespaces', undefined, namespace) === undefined) {
    throw new InvalidResource(`namespace ${namespace} does not exist`);
  }
}
