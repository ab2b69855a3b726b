import type { QueueStats } from '../ports/queue-stats.ts';
import { MAX_HELD_FRAMES } from './held-frames.ts';
import { MAX_WAITING_REQUESTS } from './outgoing-queue.ts';
import type { Session } from './session.ts';

/** Open sessions in numbers. */
export interface AgentPortStats {
  /** How many are open, by namespace. */
  sessions: ReadonlyMap<string, number>;
  /** Of how many nothing is read because senders must pause. */
  paused: number;
  /** Over all of them: frames that wait to be written, and messages that wait to be decided. */
  outgoingFrames: number;
  heldFrames: number;
  /** Of the one where they are most; what was dropped is of all. */
  checkRequestsOfOne: QueueStats;
  heldFramesOfOne: QueueStats;
}

/** Costs all sessions. */
export function agentPortStats(open: Iterable<Session>, droppedRequests: number): AgentPortStats {
  const sessions = new Map<string, number>();
  let paused = 0;
  let outgoingFrames = 0;
  let heldFrames = 0;
  let mostRequests = 0;
  let mostHeld = 0;
  for (const { namespace, isPaused, waiting } of open) {
    sessions.set(namespace, (sessions.get(namespace) ?? 0) + 1);
    if (isPaused) paused += 1;
    outgoingFrames += waiting.frames;
    heldFrames += waiting.held;
    mostRequests = Math.max(mostRequests, waiting.requests);
    mostHeld = Math.max(mostHeld, waiting.held);
  }
  return {
    sessions,
    paused,
    outgoingFrames,
    heldFrames,
    checkRequestsOfOne: { used: mostRequests, limit: MAX_WAITING_REQUESTS, dropped: droppedRequests },
    heldFramesOfOne: { used: mostHeld, limit: MAX_HELD_FRAMES },
  };
}
