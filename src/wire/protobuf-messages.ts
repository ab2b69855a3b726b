import { assetBuildWithDefaults, assetWithDefaults } from '../resources/asset.ts';
import {
  configOf,
  type Entity,
  type EntityConfig,
  entityWithDefaults,
  systemWithDefaults,
} from '../resources/entity.ts';
import { type Event, eventWithDefaults } from '../resources/event.ts';
import type { AssetList, CheckRequest, RequestedCheck } from './check-request.ts';
import {
  checkConfigMessage,
  checkMessage,
  hook,
  nameAndValue,
  objectMeta,
  reference,
} from './protobuf-check-messages.ts';
import {
  always,
  double,
  exactInt64,
  flag,
  int32,
  int64,
  list,
  mapOf,
  message,
  nested,
  text,
  textMap,
  texts,
  unchanging,
  uuid,
} from './protobuf-table.ts';

const network = message(() => systemWithDefaults(null).network, {
  interfaces: list(
    1,
    message((): NetworkInterface => ({ name: undefined, mac: undefined, addresses: null }), {
      name: text(1),
      mac: text(2),
      addresses: texts(3),
    }),
  ),
});
type NetworkInterface = NonNullable<Entity['system']['network']['interfaces']>[number];

const system = message(() => systemWithDefaults(null), {
  hostname: text(1),
  os: text(2),
  platform: text(3),
  platform_family: text(4),
  platform_version: text(5),
  network: always(6, network),
  arch: text(7),
  arm_version: int32(8),
  libc_type: text(9),
  vm_system: text(10),
  vm_role: text(11),
  cloud_provider: text(12),
  float_type: text(13),
  processes: list(
    14,
    message(() => ({ name: '' }), { name: text(1) }),
  ),
});

const deregistration = message((): Entity['deregistration'] => ({ handler: undefined }), { handler: text(1) });

const entity = message(() => entityWithDefaults({}), {
  entity_class: text(1),
  system: always(3, system),
  subscriptions: texts(4),
  last_seen: int64(5),
  deregister: flag(6),
  deregistration: always(7, deregistration),
  user: text(11),
  redact: texts(13),
  metadata: always(14, objectMeta),
  sensu_agent_version: text(15),
  keepalive_handlers: texts(16),
});

/** Always includes metadata: agents of the reference crash on a configuration without it. */
export const entityConfigMessage = message((): EntityConfig => configOf(entityWithDefaults({})), {
  metadata: always(1, objectMeta),
  entity_class: text(2),
  user: text(3),
  subscriptions: texts(4),
  deregister: flag(5),
  deregistration: always(6, deregistration),
  keepalive_handlers: texts(7),
  redact: texts(8),
});

type Metrics = NonNullable<Event['metrics']>;
type MetricPoint = NonNullable<Metrics['points']>[number];
const metricPoint = message((): MetricPoint => ({ name: undefined, value: 0, timestamp: 0, tags: null }), {
  name: text(1),
  value: double(2),
  timestamp: exactInt64(3),
  tags: list(4, nameAndValue),
});
const metrics = message((): Metrics => ({ handlers: null, points: null }), {
  handlers: texts(1),
  points: list(2, metricPoint),
});

export const eventMessage = message(() => eventWithDefaults({}), {
  timestamp: int64(1),
  entity: unchanging(2, entity),
  check: nested(3, checkMessage),
  metrics: nested(4, metrics),
  metadata: always(5, objectMeta),
  id: uuid(6),
  sequence: int64(7),
  pipelines: list(8, reference),
});

const assetBuildFields = { url: text(2), sha512: text(3), filters: texts(5), headers: textMap(9) };
const asset = message(() => assetWithDefaults({}), {
  ...assetBuildFields,
  builds: list(
    6,
    message(() => assetBuildWithDefaults({}), assetBuildFields),
  ),
  metadata: always(8, objectMeta),
});
const assetList = message((): AssetList => ({ assets: null }), { assets: list(1, asset) });

/** A request whose check may be missing. */
type SentRequest = Omit<CheckRequest, 'config'> & { config: RequestedCheck | undefined };
export const checkRequestMessage = message(
  (): SentRequest => ({
    config: undefined,
    assets: null,
    hooks: null,
    issued: 0,
    hook_assets: {},
    secrets: undefined,
    tokens_filled: undefined,
  }),
  {
    config: nested(1, checkConfigMessage),
    assets: list(2, asset),
    hooks: list(3, hook),
    issued: int64(4),
    hook_assets: mapOf(5, assetList),
    secrets: texts(6),
    tokens_filled: flag(1001),
  },
);
