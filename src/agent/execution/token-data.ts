import { configOf, type Entity } from '../../resources/entity.ts';
import { entityData, systemData } from '../../resources/entity-data.ts';

/** Returns the data of the agent's entity for tokens, unredacted and with all fields set. Source: spec/03 4.7. */
export const tokenData = (entity: Entity) => ({
  ...entityData(configOf(entity)),
  system: systemData(entity.system),
  last_seen: entity.last_seen,
  sensu_agent_version: entity.sensu_agent_version,
});
