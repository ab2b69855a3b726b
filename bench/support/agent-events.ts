import { randomUUID } from 'node:crypto';

/** An agent's entity with the system data of a real one. */
function entity(name: string) {
  return {
    entity_class: 'agent',
    system: {
      hostname: name,
      os: 'linux',
      platform: 'debian',
      platform_family: 'debian',
      platform_version: '12.5',
      network: {
        interfaces: [
          { name: 'lo', addresses: ['127.0.0.1/8', '::1/128'] },
          { name: 'eth0', mac: '02:42:ac:11:00:02', addresses: ['172.17.0.2/16', 'fe80::42:acff:fe11:2/64'] },
        ],
      },
      arch: 'amd64',
      libc_type: 'glibc',
      vm_system: '',
      vm_role: 'guest',
      cloud_provider: '',
      processes: null,
    },
    subscriptions: ['linux', 'web', `entity:${name}`],
    last_seen: 1_767_268_800,
    deregister: false,
    deregistration: {},
    user: 'agent',
    redact: ['password', 'passwd', 'pass', 'api_key', 'api_token', 'access_key', 'secret_key', 'private_key', 'secret'],
    metadata: { name, namespace: 'default', labels: { site: 'fra', team: 'sre' } },
    sensu_agent_version: '6.9.2',
  };
}

/** The defaults of an agent, in seconds. */
const KEEPALIVE_INTERVAL_S = 20;
const KEEPALIVE_WARNING_S = 120;

export interface KeepaliveTimeouts {
  intervalS?: number;
  warningS?: number;
}

/** A keepalive without a critical timeout. */
export function agentKeepalive(
  name: string,
  { intervalS = KEEPALIVE_INTERVAL_S, warningS = KEEPALIVE_WARNING_S }: KeepaliveTimeouts = {},
) {
  return {
    timestamp: Math.floor(Date.now() / 1_000),
    entity: entity(name),
    check: { metadata: { name: 'keepalive', namespace: 'default' }, interval: intervalS, timeout: warningS, ttl: 0 },
    metadata: { namespace: 'default' },
    id: randomUUID(),
    sequence: 1,
  };
}

export interface Result {
  status?: number;
  /** Unix seconds. */
  executed?: number;
  /** Seconds; the interval must be less. */
  ttl?: number;
  interval?: number;
}

/** The handler of the results. */
export const HANDLER = 'slack';

/** The output of a plugin with performance data. */
const OUTPUT =
  'OK - load average: 0.05, 0.08, 0.09; 3 users; 212 processes; uptime 41 days, 6:12' +
  '|load1=0.050;5.000;10.000;0; load5=0.080;4.000;8.000;0; load15=0.090;3.000;6.000;0; users=3;20;50;0 ' +
  'procs=212;400;600;0 zombies=0;5;10;0; swap=0MB;512;1024;0;2048 uptime=3564720s;;;0;;\n' +
  'all values within their thresholds since the last restart of this machine';

/** A result with a check TTL; `id` and `executed` are the same for all unless given. */
export function agentEvent(
  name: string,
  check: string,
  { status = 0, executed = 1_767_268_800, ttl = 180, interval = 60 }: Result = {},
  id = '6f2b1c1e-8f0a-4d6b-9a57-0c6d3f0e1a22',
) {
  return {
    timestamp: 1_767_268_800,
    entity: entity(name),
    check: {
      command: '/usr/lib/nagios/plugins/check_load -w 5,4,3 -c 10,8,6',
      handlers: [HANDLER],
      high_flap_threshold: 0,
      interval,
      low_flap_threshold: 0,
      publish: true,
      runtime_assets: null,
      subscriptions: ['linux'],
      proxy_entity_name: '',
      check_hooks: null,
      stdin: false,
      subdue: null,
      ttl,
      timeout: 30,
      round_robin: false,
      duration: 0.012,
      issued: 1_767_268_800,
      output: OUTPUT,
      executed,
      status,
      metadata: { name: check, namespace: 'default' },
      processed_by: name,
      scheduler: 'memory',
      pipelines: [],
    },
    metadata: { namespace: 'default' },
    id,
    sequence: 1,
    pipelines: null,
  };
}

/** A whole frame in JSON, which the backend accepts with either encoding. */
export const encodeKeepalive = (name: string, timeouts?: KeepaliveTimeouts): string =>
  `keepalive\n${JSON.stringify(agentKeepalive(name, timeouts))}`;
