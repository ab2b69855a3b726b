import type { AgentPort } from '../../actors/agents/agent-port.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Codec } from '../../wire/codec.ts';
import type { AgentHello } from '../../wire/handshake.ts';
import type { MessagePacer } from '../pacing/message-pacer.ts';
import type { ClosedConnections } from './closed-connections.ts';
import type { FrameRefusals } from './frame-refusals.ts';
import type { SessionCounts } from './session-counts.ts';

/** An agent whose handshake was accepted, with its address and the encoding of the connection. */
export interface AcceptedConnection {
  hello: AgentHello;
  /** The authenticated user. */
  username: string;
  /** `host:port` */
  address: string;
  /** Encoding of all messages, in both directions. */
  codec: Codec;
  /** Whether the connection uses mutual TLS: the agent has shown a valid client certificate. */
  isMutualTls: boolean;
}

/** The services of the agent port that a session uses. */
export interface SessionPorts {
  agents: AgentPort;
  refusals: FrameRefusals;
  counts: SessionCounts;
  clock: Clock;
  log: Log;
  /** Whether senders must pause. */
  mustPause(): boolean;
  /** Whether the store is failing, so that not even keepalives can be processed. */
  isFailing(): boolean;
  /** Requests a call of `resume` once senders may continue. */
  awaitResume(): void;
  /** Replaces the subscriptions of the session. */
  subscribe(subscriptions: readonly string[]): void;
  /** Extends the membership of the agent in round-robin rings, after a keepalive. */
  renewLease(leaseMs: number): void;
  /** The socket is closed. The agent port calls `notify` when its pacer admits the end of the session. */
  ended(notify: () => void): void;
  /** Calls `readOn` in a tick in which no other slowed connection resumes. */
  inOwnTick(readOn: () => void): void;
  /** Shared by all connections of the port. */
  messagePacer: MessagePacer;
  /** Shared by all connections of the port. */
  closed: ClosedConnections;
  writeTimeoutMs: number;
}
