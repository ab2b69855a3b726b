/** An agent's entity with what a real one reports of its system. */
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

export function agentKeepalive(name: string) {
  return {
    timestamp: Math.floor(Date.now() / 1_000),
    entity: entity(name),
    check: { metadata: { name: 'keepalive', namespace: 'default' }, interval: 20, timeout: 120, ttl: 0 },
    metadata: { namespace: 'default' },
    id: '6f2b1c1e-8f0a-4d6b-9a57-0c6d3f0e1a22',
    sequence: 1,
  };
}

/** A result with a dead man's switch; `executed` holds a mark where a sender puts the time and the status. */
export function agentEvent(name: string, check: string) {
  return {
    timestamp: 1_767_268_800,
    entity: entity(name),
    check: {
      command: '/usr/lib/nagios/plugins/check_load -w 5,4,3 -c 10,8,6',
      handlers: ['slack'],
      high_flap_threshold: 0,
      interval: 60,
      low_flap_threshold: 0,
      publish: true,
      runtime_assets: null,
      subscriptions: ['linux'],
      proxy_entity_name: '',
      check_hooks: null,
      stdin: false,
      subdue: null,
      ttl: 180,
      timeout: 30,
      round_robin: false,
      duration: 0.012,
      issued: 1_767_268_800,
      output: 'OK - load average: 0.05, 0.08, 0.09|load1=0.050;5.000;10.000;0; load5=0.080;4.000;8.000;0;',
      executed: '<executed>',
      metadata: { name: check, namespace: 'default' },
      processed_by: name,
      scheduler: 'memory',
      pipelines: [],
    },
    metadata: { namespace: 'default' },
    id: '6f2b1c1e-8f0a-4d6b-9a57-0c6d3f0e1a22',
    sequence: 1,
    pipelines: null,
  };
}
