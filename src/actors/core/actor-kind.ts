import type { ConnectionEvent, ConnectionInput } from '../../machines/agent-connection.ts';
import type { ScheduleEvent, ScheduleInput } from '../../machines/check-schedule.ts';
import type { CheckTtlEvent, CheckTtlInput } from '../../machines/check-ttl.ts';
import type { EntityEvent, EntityInput } from '../../machines/entity.ts';
import type { KeyedActors } from './keyed-actors.ts';

/** The events of each kind of actor; the keys are the kind names in the ledger and in the API. */
export interface ActorEvents {
  entity: EntityEvent;
  'check-ttl': CheckTtlEvent;
  connection: ConnectionEvent;
  'check-schedule': ScheduleEvent;
}

export interface ActorInputs {
  entity: EntityInput;
  'check-ttl': CheckTtlInput;
  connection: ConnectionInput;
  'check-schedule': ScheduleInput;
}

export type ActorKind = keyof ActorEvents;

export type ActorKinds = { [K in ActorKind]: KeyedActors<ActorEvents[K], ActorInputs[K]> };
