import type { ActorRefFrom } from 'xstate';
import type { DeadlineQueue } from './time/deadline-queue.ts';
import { KeyedActors } from './core/keyed-actors.ts';
import type { ActorKind, ActorKinds } from './core/actor-kind.ts';
import type { Machines } from './core/machines.ts';
import { scheduleInput, scheduleSnapshot } from './schedules/schedules.ts';
import type { supervisorLogic } from './core/supervisor.ts';

export interface ActorKindsPorts {
  /** Provided with their effects. */
  machines: Machines;
  supervisors: Record<ActorKind, ActorRefFrom<typeof supervisorLogic>>;
  /** The armed deadline of a schedule, Unix ms. */
  deadlineQueue: Pick<DeadlineQueue, 'deadlineOf'>;
  /** By the wall clock, Unix ms. */
  nowMs(): number;
  /** Steady time, ms. */
  steadyMs(): number;
}

/** The keyed actors of each kind: which record they are woken from, and with what they begin anew where that fails. */
export function makeActorKinds({ machines, supervisors, deadlineQueue, nowMs, steadyMs }: ActorKindsPorts): ActorKinds {
  return {
    entity: new KeyedActors({
      kind: 'entity',
      machine: machines.entity,
      supervisor: supervisors.entity,
      load: (reader, key) => reader.get('entities', key)?.actor,
      rebuild: (_, key) => ({ key }),
    }),
    'check-ttl': new KeyedActors({
      kind: 'check-ttl',
      machine: machines['check-ttl'],
      supervisor: supervisors['check-ttl'],
      load: (reader, key) => reader.get('events', key)?.ttl,
      rebuild: (reader, key) => {
        const ttlS = reader.get('events', key)?.event.check.ttl ?? 0;
        return ttlS > 0 ? { key, ttlMs: ttlS * 1_000, alertStatus: 1, atMs: steadyMs() } : undefined;
      },
    }),
    connection: new KeyedActors({
      kind: 'connection',
      machine: machines.connection,
      supervisor: supervisors.connection,
      load: (reader, key) => reader.get('sessions', key)?.actor,
      rebuild: (_, key) => ({ key, atMs: steadyMs() }),
    }),
    'check-schedule': new KeyedActors({
      kind: 'check-schedule',
      machine: machines['check-schedule'],
      supervisor: supervisors['check-schedule'],
      load: (reader, key) => scheduleSnapshot(reader, key, deadlineQueue.deadlineOf('check-schedule', key)),
      rebuild: (reader, key) => scheduleInput(reader, key, nowMs()),
    }),
  };
}
