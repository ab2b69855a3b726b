import type { QueueStats } from '../ports/queue-stats.ts';
import { MAX_HELD_FRAMES } from './connection/held-frames.ts';
import { MAX_REQUEST_BYTES, MAX_WAITING_REQUESTS } from './connection/outgoing-queue.ts';
import type { Session } from './connection/session.ts';

/** Totals over all open sessions. */
export interface AgentPortStats {
  /** Number of open sessions by namespace. */
  sessions: ReadonlyMap<string, number>;
  /** Sessions that are not read because senders must pause. */
  paused: number;
  /** Over all sessions: frames waiting to be written, and messages waiting to be processed. */
  outgoingFrames: number;
  heldFrames: number;
  /** The longest queue of a single session; `dropped` counts all sessions. */
  maxCheckRequests: QueueStats;
  maxCheckRequestBytes: QueueStats;
  maxHeldFrames: QueueStats;
}

/** Iterates over all sessions. */
export function agentPortStats(open: Iterable<Session>, droppedRequests: number): AgentPortStats {
  const sessions = new Map<string, number>();
  let paused = 0;
  let outgoingFrames = 0;
  let heldFrames = 0;
  let mostRequests = 0;
  let mostRequestBytes = 0;
  let mostHeld = 0;
  for (const { namespace, isPaused, waiting } of open) {
    sessions.set(namespace, (sessions.get(namespace) ?? 0) + 1);
    if (isPaused) paused += 1;
    outgoingFrames += waiting.frames;
    heldFrames += waiting.held;
    mostRequests = Math.max(mostRequests, waiting.requests);
    mostRequestBytes = Math.max(mostRequestBytes, waiting.requestBytes);
    mostHeld = Math.max(mostHeld, waiting.held);
  }
  return {
    sessions,
    paused,
    outgoingFrames,
    heldFrames,
    maxCheckRequests: { used: mostRequests, limit: MAX_WAITING_REQUESTS, dropped: droppedRequests },
    maxCheckRequestBytes: { used: mostRequestBytes, limit: MAX_REQUEST_BYTES },
    maxHeldFrames: { used: mostHeld, limit: MAX_HELD_FRAMES },
  };
}
