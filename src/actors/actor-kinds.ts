import type { ActorRefFrom } from 'xstate';
import { rebuiltConnection } from '../machines/agent-connection-snapshots.ts';
import type { ActorSnapshot } from '../machines/actor-snapshot.ts';
import { scheduleSnapshot } from '../machines/check-schedule-snapshots.ts';
import type { Log } from '../ports/log.ts';
import { keepaliveDeadline } from './agents/keepalives.ts';
import { rebuildEntity } from './agents/rebuild-entity.ts';
import type { CurrentDecision } from './core/current-decision.ts';
import { ttlDeadline } from './events/ttl-deadline.ts';
import { rebuildCheckTtl } from './events/rebuild-check-ttl.ts';
import { connectionDeadline, scheduleDeadline } from './stored-deadlines.ts';
import type { BlindTime } from './time/blind-time.ts';
import type { DeadlineQueue, StoredDeadline } from './time/deadline-queue.ts';
import { KeyedActors } from './core/keyed-actors.ts';
import type { ActorKind, ActorKinds } from './core/actor-kind.ts';
import type { Machines } from './core/machines.ts';
import { evictedSchedule, scheduleInput } from './schedules/schedules.ts';
import type { supervisorLogic } from './core/supervisor.ts';

export interface ActorKindsPorts {
  /** Provided with their effects. */
  machines: Machines;
  supervisors: Record<ActorKind, ActorRefFrom<typeof supervisorLogic>>;
  /** The armed deadline of a schedule, Unix ms. */
  deadlineQueue: Pick<DeadlineQueue, 'deadlineOf'>;
  /** Gives the grace that the last alert of a rebuilt actor had. */
  blind: BlindTime;
  /** The deadlines of rebuilt actors are armed with the decision being made. */
  current: CurrentDecision;
  log: Log;
  /** The time of the wall clock, Unix ms. */
  nowMs(): number;
  /** Steady time, ms. */
  steadyMs(): number;
}

/**
 * Creates the keyed actors of each kind, with the record from which they are woken and the domain data that replaces it
 * if it cannot be used.
 */
export function makeActorKinds(ports: ActorKindsPorts): ActorKinds {
  const { machines, supervisors, deadlineQueue, blind, current, log, nowMs, steadyMs } = ports;
  const ofKind = (kind: ActorKind, deadlineOf: (snapshot: ActorSnapshot) => StoredDeadline | undefined) => ({
    kind,
    rebuilt(key: string, snapshot: ActorSnapshot) {
      const deadline = deadlineOf(snapshot);
      if (deadline !== undefined) current.ctx.decision.deadlines.push({ actor: kind, key, ...deadline });
    },
    outdated(stored: string | undefined, version: string) {
      log.info({ actor: kind, stored, version }, 'snapshots of another machine version are rebuilt from domain data');
    },
  });
  return {
    entity: new KeyedActors({
      machine: machines.entity,
      supervisor: supervisors.entity,
      load: (reader, key) => reader.get('entities', key)?.actor,
      rebuild: (reader, key) => rebuildEntity(reader, key, { nowMs: steadyMs(), blind }),
      ...ofKind('entity', keepaliveDeadline),
    }),
    'check-ttl': new KeyedActors({
      machine: machines['check-ttl'],
      supervisor: supervisors['check-ttl'],
      load: (reader, key) => reader.get('events', key)?.ttl,
      rebuild: (reader, key) => rebuildCheckTtl(reader, key, { nowMs: steadyMs(), blind }),
      ...ofKind('check-ttl', ttlDeadline),
    }),
    connection: new KeyedActors({
      machine: machines.connection,
      supervisor: supervisors.connection,
      load: (reader, key) => reader.get('sessions', key)?.actor,
      rebuild: (_, key) => rebuiltConnection(key, steadyMs()),
      ...ofKind('connection', connectionDeadline),
    }),
    'check-schedule': new KeyedActors({
      machine: machines['check-schedule'],
      supervisor: supervisors['check-schedule'],
      load: (reader, key) => evictedSchedule(reader, key, deadlineQueue.deadlineOf('check-schedule', key)),
      rebuild: (reader, key) => {
        const input = scheduleInput(reader, key, nowMs());
        return input && scheduleSnapshot(key, input.firstTickAtMs);
      },
      ...ofKind('check-schedule', scheduleDeadline),
    }),
  };
}
