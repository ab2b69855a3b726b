import type { QueueStats } from '../ports/queue-stats.ts';
import type { CommitCounts } from '../store/commit/commit-counts.ts';
import type { Committer } from '../store/commit/committer.ts';
import type { EntityBound } from '../resources/errors.ts';
import type { Aggregates } from './aggregates/aggregates.ts';
import type { EntityRoom } from './core/entity-room.ts';
import type { AgentPort } from './agents/agent-port.ts';
import type { BlindTime } from './time/blind-time.ts';
import { countSchedules, type ScheduleKind } from './schedules/schedule-counts.ts';
import type { DeadlineQueue } from './time/deadline-queue.ts';
import type { Decider } from './core/decider.ts';
import type { ActorKind, ActorKinds } from './core/actor-kind.ts';
import type { Eviction } from './core/eviction.ts';
import type { TickOutcome } from '../rules/tick-streaks.ts';
import type { TickBook } from './core/tick-book.ts';
import type { NotificationRetention } from './supervision/notification-retention.ts';
import type { Supervision } from './supervision/supervision.ts';

/** Stats of the actors and the committer. Counters count since the process started. */
export interface SystemStats {
  commits: CommitCounts;
  openDecisions: QueueStats;
  /** The number of the last durable entry. */
  ledgerSeq: number;
  /** Changes that were refused because the open decisions, the outbox, the memory or the quota of the store was full. */
  refused: number;
  awake: Readonly<Record<ActorKind, number>>;
  /** The awake actors among those that can be evicted. */
  awakeSleepers: QueueStats;
  /** The events whose state is kept in memory. */
  keptEvents: QueueStats;
  /** Scheduled checks, by kind of schedule and namespace. */
  schedules: Readonly<Record<ScheduleKind, ReadonlyMap<string, number>>>;
  /** Armed deadlines, by the name of the actor in the deadline queue. */
  armed: ReadonlyMap<string, number>;
  failures: Readonly<Record<ActorKind, number>>;
  quarantined: Readonly<Record<ActorKind, number>>;
  /** Blind time that ended since the process started, ms. */
  blindMs: number;
  /** Connections with events that wait until the store can be written. */
  pendingConnections: number;
  /** Entities whose events were dropped at a limit; the oldest are forgotten. */
  droppedEvents: QueueStats;
  /** Results that were refused because their entity is full, by what it has too much of. */
  refusedResults: Readonly<Record<EntityBound, number>>;
  /** Entities whose stored results are measured. */
  measuredEntities: QueueStats;
  /** Agents whose connections are counted. */
  countedAgents: QueueStats;
  /** Ticks of checks, by outcome. */
  ticks: Readonly<Record<TickOutcome, number>>;
  /** Requests whose results are expected. */
  expectedResults: QueueStats;
  /** Requests without a result. */
  unansweredRequests: number;
  /** Aggregates with members, and the memberships of all results. */
  aggregates: Aggregates['size'];
  /** The stored outcomes of handlers. */
  notifications: Pick<NotificationRetention, 'notificationBytes' | 'deadLetters' | 'deadLetterBytes'>;
}

export interface SystemParts {
  committer: Pick<Committer, 'counts' | 'openDecisions' | 'keptEvents' | 'head' | 'get'>;
  decider: Pick<Decider, 'refused'>;
  kinds: ActorKinds;
  eviction: Pick<Eviction, 'awake'>;
  deadlineQueue: Pick<DeadlineQueue, 'armed'>;
  supervision: Pick<Supervision, 'failures' | 'quarantined'>;
  blind: Pick<BlindTime, 'addedMs'>;
  agents: Pick<AgentPort, 'pendingConnections' | 'droppedEvents' | 'countedAgents'>;
  ticks: Pick<TickBook, 'counts' | 'expected'>;
  room: Pick<EntityRoom, 'measured' | 'refused'>;
  aggregates: Pick<Aggregates, 'size'>;
  notifications: SystemStats['notifications'];
}

/** Its cost grows with the number of checks, because it counts all schedules. */
export function systemStats(parts: SystemParts): SystemStats {
  const { committer, decider, kinds, eviction, deadlineQueue, supervision, blind, agents, notifications, ticks, room } =
    parts;
  return {
    commits: committer.counts,
    openDecisions: committer.openDecisions,
    ledgerSeq: committer.head.seq,
    refused: decider.refused,
    awake: ofEachKind((kind) => kinds[kind].awake),
    awakeSleepers: eviction.awake,
    keptEvents: committer.keptEvents,
    schedules: countSchedules(committer, kinds['check-schedule'].keys()),
    armed: deadlineQueue.armed,
    failures: supervision.failures,
    quarantined: ofEachKind((kind) => supervision.quarantined(kind)),
    blindMs: blind.addedMs,
    pendingConnections: agents.pendingConnections,
    droppedEvents: agents.droppedEvents,
    refusedResults: room.refused,
    measuredEntities: room.measured,
    countedAgents: agents.countedAgents,
    ticks: ticks.counts,
    expectedResults: ticks.expected.stats,
    unansweredRequests: ticks.expected.unanswered,
    aggregates: parts.aggregates.size,
    notifications,
  };
}

const ofEachKind = (read: (kind: ActorKind) => number): Record<ActorKind, number> => ({
  entity: read('entity'),
  'check-ttl': read('check-ttl'),
  connection: read('connection'),
  'check-schedule': read('check-schedule'),
});
