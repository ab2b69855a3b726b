import type { ConnectionEvent } from '../../machines/agent-connection.ts';
import type { Event } from '../../resources/event.ts';
import type { Source } from '../../store/commit/decision.ts';

/** The interface of a connection towards the actors. */
export interface AgentSession extends Source {
  readonly id: string;
  readonly namespace: string;
  readonly agentName: string;
  /** The agent's queue, when its events are numbered. */
  readonly queueId: string | undefined;
  /** Wall clock, Unix ms. */
  readonly openedAtMs: number;
  /** The time since the last frame, ms. Time in which the socket was not read does not count. */
  silentMs(): number;
  ping(): void;
  close(code: number, reason: string): void;
  terminate(): void;
  /** Called after each event of the connection's actor, with the state that it is in. */
  stateChanged(state: string): void;
}

/** An event that a session reports. The port adds the time. */
export type SessionEvent = ConnectionEvent extends infer E
  ? E extends { deadlineAtMs: number }
    ? never
    : Omit<E, 'atMs'>
  : never;

/** An event as a connection received it. */
export interface SentEvent {
  event: Event;
  /** Numbers the event in the agent's queue: one at or below the highest known is acknowledged again and changes nothing. */
  n: number | undefined;
  /** The bytes of the event when they are protobuf. */
  encoded: Buffer | undefined;
  /** The size of the event as it was received; not known when absent. */
  bytes?: number | undefined;
}
