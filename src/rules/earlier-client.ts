import type { Check } from '../resources/check.ts';
import type { Entity } from '../resources/entity.ts';
import { customOf } from './earlier-attributes.ts';
import { redactedDeep } from './earlier-redaction.ts';
import { toEarlierId } from './earlier-silence.ts';

export interface EarlierClientOptions {
  /** Whether a silence on all checks of the entity is active. */
  isSilenced: boolean;
  /** The version of entities without an agent. */
  backendVersion: string;
  /** The time of an entity that was never seen: its creation, or that of its event. Unix seconds. */
  timestampS: number;
  /** Undefined for an entity without keepalives. */
  thresholds?: KeepaliveThresholds | undefined;
}

/** The timeouts of the keepalives of an agent, in seconds. A stage that is off is absent. */
export interface KeepaliveThresholds {
  warning?: number;
  critical?: number;
}

/** Returns the timeouts in the check of a keepalive event; undefined when it has none. */
export function keepaliveThresholds({ timeout, ttl }: Pick<Check, 'timeout' | 'ttl'>): KeepaliveThresholds | undefined {
  if (timeout <= 0 && ttl <= 0) return undefined;
  return { ...(timeout > 0 ? { warning: timeout } : undefined), ...(ttl > 0 ? { critical: ttl } : undefined) };
}

const UNKNOWN = 'unknown';
/** Labels with the name of an attribute of a client are not shown beside it. */
const ATTRIBUTES = new Set([
  'name',
  'address',
  'subscriptions',
  'version',
  'timestamp',
  'environment',
  'silenced',
  'keepalives',
  'type',
  'keepalive',
]);
const LOOPBACK_V4 = /^127\./;
const LOOPBACK_V6 = /^::1$/;

/** Returns an entity as a client of the first generation, with its secrets redacted. Source: spec/05 3.1.2. */
export function earlierClient(entity: Entity, options: EarlierClientOptions): Record<string, unknown> {
  const { metadata, entity_class: entityClass, sensu_agent_version: version, last_seen: lastSeenS } = entity;
  const { labels, annotations } = metadata;
  const isAgent = entityClass === 'agent';
  const { timestamp: postedAtS, ...custom } = customOf({ labels: undefined, annotations });
  const timestampS = typeof postedAtS === 'number' ? postedAtS : options.timestampS;
  const environment = labels?.['environment'];
  const { thresholds } = options;
  const client = {
    ...custom,
    ...Object.fromEntries(Object.entries(labels ?? {}).filter(([key]) => !ATTRIBUTES.has(key))),
    name: metadata.name ?? '',
    address: addressOf(entity),
    subscriptions: subscriptionsOf(entity),
    version: isAgent ? version || UNKNOWN : options.backendVersion,
    timestamp: lastSeenS > 0 ? lastSeenS : timestampS,
    ...(environment === undefined ? undefined : { environment }),
    silenced: options.isSilenced,
    ...(entity.redact === undefined || isAgent ? undefined : { redact: entity.redact }),
    keepalives: isAgent || custom['keepalives'] === true,
    ...(entityClass === 'proxy' ? { type: 'proxy' } : undefined),
    ...(thresholds === undefined || !isAgent ? undefined : { keepalive: { thresholds } }),
  };
  return redactedDeep(client, entity.redact) as Record<string, unknown>;
}

/** A client of the first generation has `client:<name>` in the place of `entity:<name>`. An agent keeps both. */
function subscriptionsOf({ entity_class: entityClass, subscriptions, metadata: { name = '' } }: Entity): string[] {
  const own = `entity:${name}`;
  const shown = (subscriptions ?? []).filter((one) => entityClass === 'agent' || one !== own);
  return [...new Set([...shown, toEarlierId(own)])];
}

function addressOf({ entity_class: entityClass, metadata: { labels }, system }: Entity): string {
  const label = entityClass === 'proxy' ? labels?.['address'] : undefined;
  if (label !== undefined) return label;
  const addresses = (system.network.interfaces ?? []).flatMap(({ addresses: of }) => of ?? []).map(withoutMask);
  const isV6 = (address: string): boolean => address.includes(':');
  return (
    addresses.find((address) => !isV6(address) && !LOOPBACK_V4.test(address)) ??
    addresses.find((address) => isV6(address) && !LOOPBACK_V6.test(address)) ??
    system.hostname ??
    UNKNOWN
  );
}

const withoutMask = (address: string): string => address.split('/', 1)[0] ?? '';
