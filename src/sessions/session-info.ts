import { protobufCodec } from '../wire/codec.ts';
import { connectionProblems, type ConnectionContext } from './connection-problems.ts';
import type { Session } from './connection/session.ts';

/** Formats an open connection for the API; times are Unix seconds. */
export function sessionInfo(session: Session, context: ConnectionContext): object {
  const { refused } = context;
  return {
    id: session.id,
    namespace: session.namespace,
    agent: session.agentName,
    address: session.address,
    user: session.username,
    encoding: session.codec === protobufCodec ? 'protobuf' : 'json',
    opened_at: secondsOf(session.openedAtMs),
    state: session.state,
    silent_ms: Math.round(session.silentMs()),
    last_frame_at: secondsOf(session.lastFrameAtMs),
    last_keepalive_at: secondsOf(session.lastKeepaliveAtMs),
    clock_skew_seconds: session.clockSkewS ?? null,
    queue: session.queueId === undefined ? null : { id: session.queueId, acknowledged: session.acknowledgedN ?? null },
    dropped_requests: session.droppedRequests,
    refused: refused?.count ?? 0,
    last_refusal: refused === undefined ? null : { at: secondsOf(refused.lastAtMs), reason: refused.lastReason },
    problems: connectionProblems(session, context),
  };
}

const secondsOf = (ms: number | undefined): number | null => (ms === undefined ? null : Math.floor(ms / 1_000));
