import { agentConnectionMachine } from '../../machines/agent-connection.ts';
import { checkScheduleMachine } from '../../machines/check-schedule.ts';
import { checkTtlMachine } from '../../machines/check-ttl.ts';
import { entityMachine } from '../../machines/entity.ts';

/** The machines without effects. Tests replace them with broken ones. */
export const MACHINES = {
  entity: entityMachine,
  'check-ttl': checkTtlMachine,
  connection: agentConnectionMachine,
  'check-schedule': checkScheduleMachine,
};
export type Machines = typeof MACHINES;
