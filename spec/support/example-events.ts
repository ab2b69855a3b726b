import { randomUUID } from 'node:crypto';

export type Json = Record<string, unknown>;

const nowS = (): number => Math.floor(Date.now() / 1000);

/** Returns the entity that the agent `name` sends. */
export function agentEntity(name: string, changes: Json = {}): Json {
  return {
    entity_class: 'agent',
    system: { hostname: name, os: 'linux', arch: 'amd64', network: { interfaces: null } },
    subscriptions: [`entity:${name}`],
    last_seen: nowS(),
    deregister: false,
    deregistration: {},
    user: 'agent',
    metadata: { name, namespace: 'default' },
    sensu_agent_version: '6.9.2',
    ...changes,
  };
}

export interface KeepaliveChanges {
  /** Unix seconds; the default is the present time. */
  timestamp?: number;
  /** Seconds between keepalives. */
  interval?: number;
  /** Seconds until a warning. */
  timeout?: number;
  /** Seconds until a critical alert; 0 = never. */
  ttl?: number;
  sequence?: number;
  entity?: Json;
  check?: Json;
  pipelines?: readonly Json[];
}

/** Returns a keepalive of the agent `name`. */
export function keepalive(name: string, changes: KeepaliveChanges = {}): Json {
  const { timestamp = nowS(), interval = 20, timeout = 120, ttl = 0, sequence = 1 } = changes;
  const check = { metadata: { name: 'keepalive', namespace: 'default' }, interval, timeout, ttl, handlers: [] };
  return {
    timestamp,
    entity: agentEntity(name, { last_seen: timestamp, ...changes.entity }),
    check: { ...check, ...changes.check },
    metadata: { namespace: 'default' },
    id: randomUUID(),
    sequence,
    ...(changes.pipelines === undefined ? undefined : { pipelines: changes.pipelines }),
  };
}

/** Returns the event of a check result of the agent `name`. */
export function checkEvent(name: string, check: string, result: Json = {}, changes: Json = {}): Json {
  const executed = nowS();
  return {
    timestamp: executed,
    entity: agentEntity(name),
    check: {
      metadata: { name: check, namespace: 'default' },
      interval: 10,
      handlers: [],
      subscriptions: [],
      executed,
      issued: executed,
      duration: 0.25,
      status: 0,
      output: '',
      ...result,
    },
    metadata: { namespace: 'default' },
    id: randomUUID(),
    sequence: 1,
    ...changes,
  };
}

/** Returns an event of a proxy entity as the API accepts it. */
export function proxyEvent(entity: string, check: string, result: Json = {}): Json {
  return {
    entity: { entity_class: 'proxy', metadata: { name: entity, namespace: 'default' } },
    check: { metadata: { name: check, namespace: 'default' }, interval: 60, status: 0, output: '', ...result },
  };
}
