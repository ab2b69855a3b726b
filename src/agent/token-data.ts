import { configOf, type Entity, type System } from '../resources/entity.ts';
import { entityData } from '../resources/entity-data.ts';

/** Returns the data of the agent's entity for tokens, unredacted and with all fields set. Source: spec/03 4.7. */
export const tokenData = (entity: Entity) => ({
  ...entityData(configOf(entity)),
  system: systemData(entity.system),
  last_seen: entity.last_seen,
  sensu_agent_version: entity.sensu_agent_version,
});

const systemData = (system: System) => ({
  hostname: system.hostname ?? '',
  os: system.os ?? '',
  platform: system.platform ?? '',
  platform_family: system.platform_family ?? '',
  platform_version: system.platform_version ?? '',
  network: {
    interfaces: (system.network.interfaces ?? []).map(({ name, mac, addresses }) => ({
      name: name ?? '',
      mac: mac ?? '',
      addresses: addresses ?? [],
    })),
  },
  arch: system.arch ?? '',
  arm_version: system.arm_version ?? 0,
  libc_type: system.libc_type,
  vm_system: system.vm_system,
  vm_role: system.vm_role,
  cloud_provider: system.cloud_provider,
  float_type: system.float_type ?? '',
  processes: system.processes ?? [],
});
