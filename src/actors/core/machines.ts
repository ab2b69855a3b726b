import { agentConnectionMachine } from '../../machines/agent-connection.ts';
import { checkScheduleMachine } from '../../machines/check-schedule.ts';
import { checkTtlMachine } from '../../machines/check-ttl.ts';
import { entityMachine } from '../../machines/entity.ts';

/** The machines as they are defined, without effects. Tests put broken ones in their place. */
export const MACHINES = {
  entity: entityMachine,
  'check-ttl': checkTtlMachine,
  connection: agentConnectionMachine,
  'check-schedule': checkScheduleMachine,
};
export type Machines = typeof MACHINES;
