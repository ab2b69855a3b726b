import { type Static, Type } from 'typebox';
import { InvalidResource } from './errors.ts';
import { assertEntityLists } from './list-bounds.ts';
import { assertMetaBounds } from './meta-bounds.ts';
import { assertName } from './names.ts';
import { ObjectMetaSchema, objectMetaWithDefaults } from './object-meta.ts';
import {
  flag,
  int32,
  int64,
  listOrNull,
  optional,
  orAbsent,
  text,
  textList,
  textsOrAbsent,
  textsOrNull,
  validator,
} from './schema.ts';

const NetworkInterfaceSchema = Type.Object({
  name: optional(text()),
  mac: optional(text()),
  addresses: optional(textList()),
});

const SystemSchema = Type.Object({
  hostname: optional(text()),
  os: optional(text()),
  platform: optional(text()),
  platform_family: optional(text()),
  platform_version: optional(text()),
  network: optional(Type.Object({ interfaces: optional(Type.Array(NetworkInterfaceSchema)) })),
  arch: optional(text()),
  arm_version: optional(int32()),
  libc_type: optional(text()),
  vm_system: optional(text()),
  vm_role: optional(text()),
  cloud_provider: optional(text()),
  float_type: optional(text()),
  processes: optional(Type.Array(Type.Object({ name: optional(text()) }))),
});

/** The part of an entity that people configure. The agent reports the other part. */
const configFields = {
  entity_class: optional(text('agent, proxy, backend, service or a class of your own')),
  user: optional(text()),
  subscriptions: optional(textList()),
  deregister: optional(flag()),
  deregistration: optional(Type.Object({ handler: optional(text()) })),
  redact: optional(textList()),
  keepalive_handlers: optional(textList()),
  metadata: optional(ObjectMetaSchema),
};

export const EntitySchema = Type.Object(
  {
    ...configFields,
    system: optional(SystemSchema),
    last_seen: optional(int64('Unix seconds')),
    sensu_agent_version: optional(text()),
  },
  { $id: 'core/v2.Entity' },
);

export const EntityConfigSchema = Type.Object(configFields, { $id: 'core/v3.EntityConfig' });

type EntityInput = Static<typeof EntitySchema>;
type SystemInput = Static<typeof SystemSchema> | null | undefined;

export type System = ReturnType<typeof systemWithDefaults>;
export type Entity = ReturnType<typeof entityWithDefaults>;
/** The content of `entity_config` messages and of responses to PATCH (core/v3 EntityConfig). */
export type EntityConfig = ReturnType<typeof configOf>;
export type EntityState = Pick<Entity, 'system' | 'last_seen' | 'sensu_agent_version'>;

export function systemWithDefaults(system: SystemInput) {
  return {
    hostname: orAbsent(system?.hostname),
    os: orAbsent(system?.os),
    platform: orAbsent(system?.platform),
    platform_family: orAbsent(system?.platform_family),
    platform_version: orAbsent(system?.platform_version),
    network: { interfaces: listOrNull(system?.network?.interfaces?.map(interfaceWithDefaults)) },
    arch: orAbsent(system?.arch),
    arm_version: orAbsent(system?.arm_version),
    libc_type: system?.libc_type ?? '',
    vm_system: system?.vm_system ?? '',
    vm_role: system?.vm_role ?? '',
    cloud_provider: system?.cloud_provider ?? '',
    float_type: orAbsent(system?.float_type),
    processes: listOrNull(system?.processes?.map((process) => ({ name: process.name ?? '' }))),
  };
}

function interfaceWithDefaults(input: Static<typeof NetworkInterfaceSchema>) {
  return { name: orAbsent(input.name), mac: orAbsent(input.mac), addresses: textsOrNull(input.addresses) };
}

export function entityWithDefaults(input: EntityInput) {
  return {
    entity_class: input.entity_class ?? '',
    system: systemWithDefaults(input.system),
    subscriptions: textsOrNull(input.subscriptions),
    last_seen: input.last_seen ?? 0,
    deregister: input.deregister ?? false,
    deregistration: { handler: orAbsent(input.deregistration?.handler) },
    user: orAbsent(input.user),
    redact: textsOrAbsent(input.redact),
    metadata: objectMetaWithDefaults(input.metadata),
    sensu_agent_version: input.sensu_agent_version ?? '',
    keepalive_handlers: textsOrAbsent(input.keepalive_handlers),
  };
}

/** Returns the configuration of an entity. It shares its lists and maps with `entity`. */
export function configOf(entity: Entity) {
  return {
    metadata: entity.metadata,
    entity_class: entity.entity_class,
    user: entity.user,
    subscriptions: entity.subscriptions,
    deregister: entity.deregister,
    deregistration: entity.deregistration,
    keepalive_handlers: entity.keepalive_handlers,
    redact: entity.redact,
  };
}

export function stateOf(entity: Entity): EntityState {
  return { system: entity.system, last_seen: entity.last_seen, sensu_agent_version: entity.sensu_agent_version };
}

export const EMPTY_ENTITY_STATE: EntityState = stateOf(entityWithDefaults({}));

/** Joins configuration and state to a core/v2 entity. */
export function joinEntity(config: EntityConfig, state: EntityState): Entity {
  return {
    entity_class: config.entity_class,
    system: state.system,
    subscriptions: config.subscriptions,
    last_seen: state.last_seen,
    deregister: config.deregister,
    deregistration: config.deregistration,
    user: config.user,
    redact: config.redact,
    metadata: config.metadata,
    sensu_agent_version: state.sensu_agent_version,
    keepalive_handlers: config.keepalive_handlers,
  };
}

const validateShape = validator('entity', EntitySchema);
const validateConfigShape = validator('entity-config', EntityConfigSchema);

/**
 * Parses an `entity_config` message or a patched configuration. Ignores the members that the agent reports, whatever
 * they contain.
 * @throws InvalidResource
 */
export function parseEntityConfig(value: unknown): EntityConfig {
  const config = validateConfigShape(value);
  return configOf(entityWithDefaults({ ...config, system: null, last_seen: null, sensu_agent_version: null }));
}

/** Validates the shape and sets defaults; does not check the rules, so names may be missing. @throws InvalidResource */
export function parseEntityShape(value: unknown): Entity {
  return entityWithDefaults(validateShape(value));
}

/** @throws InvalidResource that names the field */
export function assertEntity(entity: EntityConfig): void {
  assertName(entity.metadata.name ?? '', 'entity name');
  assertName(entity.entity_class, 'entity class');
  if (entity.metadata.namespace === undefined) throw new InvalidResource('namespace must be set');
  assertEntityLists(entity);
  assertMetaBounds(entity.metadata);
}

/** Appends `entity:<name>`, the subscription that every entity has, unless it is present. */
export function withOwnSubscription<
  T extends { subscriptions: string[] | null; metadata: { name: string | undefined } },
>(entity: T): T {
  const own = `entity:${entity.metadata.name ?? ''}`;
  if (entity.subscriptions?.includes(own)) return entity;
  return { ...entity, subscriptions: [...(entity.subscriptions ?? []), own] };
}
