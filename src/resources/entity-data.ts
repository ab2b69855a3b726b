import type { EntityConfig, System } from './entity.ts';

/**
 * Returns the data of an entity for tokens: its configuration with all fields set, and the members of its metadata at the top level.
 * It does not contain what the agent reports. Source: spec/04 1.11.
 */
export function entityData(config: EntityConfig) {
  const { metadata, deregistration } = config;
  return {
    name: metadata.name ?? '',
    namespace: metadata.namespace ?? '',
    labels: metadata.labels ?? {},
    annotations: metadata.annotations ?? {},
    created_by: metadata.created_by ?? '',
    entity_class: config.entity_class,
    user: config.user ?? '',
    subscriptions: config.subscriptions ?? [],
    deregister: config.deregister,
    deregistration: { handler: deregistration.handler ?? '' },
    keepalive_handlers: config.keepalive_handlers ?? [],
    redact: config.redact ?? [],
  };
}

/** Returns the same data for expressions, with the metadata also under `metadata`. */
export function entityVariable(config: EntityConfig) {
  const data = entityData(config);
  const { name, namespace, labels, annotations, created_by } = data;
  return { ...data, metadata: { name, namespace, labels, annotations, created_by } };
}

/** Returns what an agent reports of its system, with all fields set. */
export const systemData = (system: System) => ({
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
