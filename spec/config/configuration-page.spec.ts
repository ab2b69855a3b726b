import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { CONFIGURED, configurationPage } from '../support/configuration-page.ts';

/** The flags of `start` in `spec/06` 3 and `spec/05` 1, without those that the command lacks. */
const BACKEND_FLAGS = `
  access-token-expiry agent-auth-cert-file agent-auth-crl-urls agent-auth-key-file agent-auth-trusted-ca-file
  agent-burst-limit agent-host agent-port agent-rate-limit agent-serve-wait-time agent-write-timeout
  annotations api-listen-address api-request-limit api-serve-wait-time api-url api-write-timeout
  assets-burst-limit assets-rate-limit cache-dir cert-file config-file control-socket dashboard-cert-file dashboard-host
  dashboard-key-file dashboard-port dashboard-write-timeout debug default-silenced-expiry-time
  deregistration-handler disable-features disable-platform-metrics entity-limit etcd-advertise-client-urls etcd-cert-file etcd-cipher-suites
  etcd-client-cert-auth etcd-client-log-level etcd-client-urls etcd-discovery etcd-discovery-srv
  etcd-election-timeout etcd-heartbeat-interval etcd-initial-advertise-peer-urls etcd-initial-cluster
  etcd-initial-cluster-state etcd-initial-cluster-token etcd-key-file etcd-listen-client-urls
  etcd-listen-peer-urls etcd-log-level etcd-max-request-bytes etcd-name etcd-peer-cert-file
  etcd-peer-client-cert-auth etcd-peer-key-file etcd-peer-trusted-ca-file etcd-quota-backend-bytes
  etcd-trusted-ca-file etcd-unsafe-no-fsync event-log-buffer-size event-log-buffer-wait event-log-file
  event-log-parallel-encoders eventd-buffer-size eventd-workers insecure-skip-tls-verify jwt-private-key-file
  jwt-public-key-file keepalived-buffer-size keepalived-workers key-file labels legacy-api-allow-anonymous
  legacy-api-cors legacy-api-cors-credentials legacy-api-cors-headers legacy-api-cors-methods legacy-api-cors-origin
  legacy-api-listen-address legacy-api-password legacy-api-request-limit legacy-api-user legacy-dashboard-api
  legacy-datacenters log-level
  log-millisecond-timestamps max-silenced-expiry-time-allowed metrics-refresh-interval no-embed-etcd
  pipelined-buffer-size pipelined-workers platform-metrics-log-file platform-metrics-logging-interval
  refresh-token-expiry require-fips state-dir store-max-value-bytes store-sync tls-cipher-suites trusted-ca-file
`;

/** The flags of the agent in the seed. */
const AGENT_FLAGS = `
  allow-list annotations api-host api-port backend-url cache-dir cert-file deregister deregistration-handler
  disable-api disable-assets disable-sockets events-burst-limit events-rate-limit insecure-skip-tls-verify
  keepalive-critical-timeout keepalive-handlers keepalive-interval keepalive-warning-timeout key-file labels
  log-level name namespace password redact socket-host socket-port statsd-disable statsd-event-handlers
  statsd-flush-interval statsd-metrics-host statsd-metrics-port subscriptions trusted-ca-file user log-file
  config-file
`;

/** Defaults of mon that differ from those of `spec/06`, as docs/differences.md says. */
const OWN_DEFAULTS = {
  'api-url': '',
  'etcd-max-request-bytes': '0',
  'etcd-quota-backend-bytes': '0',
  'refresh-token-expiry': '43200s',
};

/** Defaults that `spec/06`, `spec/05` 1 and the seed give, as the page shows them. It shows neither empty nor long ones. */
const DEFAULTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'mon-backend start': {
    'access-token-expiry': '300s',
    'agent-auth-cert-file': '',
    'agent-auth-crl-urls': '',
    'agent-auth-key-file': '',
    'agent-auth-trusted-ca-file': '',
    'agent-burst-limit': '0',
    'agent-host': '[::]',
    'agent-port': '8081',
    'agent-rate-limit': '0',
    'agent-serve-wait-time': '0s',
    'agent-write-timeout': '15',
    annotations: '',
    'api-listen-address': '[::]:8080',
    'api-request-limit': '512000',
    'api-serve-wait-time': '0s',
    'api-write-timeout': '15s',
    'assets-burst-limit': '100',
    'assets-rate-limit': '1.39',
    'cache-dir': '/var/cache/mon/mon-backend',
    'cert-file': '',
    'config-file': '/etc/mon/backend.yml',
    'control-socket': '',
    'dashboard-cert-file': '',
    'dashboard-host': '[::]',
    'dashboard-key-file': '',
    'dashboard-port': '3000',
    'dashboard-write-timeout': '15s',
    debug: 'false',
    'default-silenced-expiry-time': '0s',
    'deregistration-handler': '',
    'disable-features': '',
    'disable-platform-metrics': 'false',
    'entity-limit': '100',
    'etcd-cipher-suites': '',
    'etcd-name': 'default',
    'etcd-unsafe-no-fsync': 'false',
    'event-log-buffer-size': '100000',
    'event-log-file': '',
    'insecure-skip-tls-verify': 'false',
    'jwt-private-key-file': '',
    'jwt-public-key-file': '',
    'key-file': '',
    labels: '',
    'legacy-api-allow-anonymous': 'false',
    'legacy-api-cors': 'true',
    'legacy-api-cors-credentials': 'false',
    'legacy-api-cors-headers': '',
    'legacy-api-cors-methods': '',
    'legacy-api-cors-origin': '*',
    'legacy-api-listen-address': '127.0.0.1:4567',
    'legacy-api-password': '',
    'legacy-api-request-limit': '512000',
    'legacy-api-user': '',
    'legacy-dashboard-api': 'true',
    'legacy-datacenters': '',
    'log-level': 'warn',
    'max-silenced-expiry-time-allowed': '0s',
    'pipelined-workers': '100',
    'platform-metrics-log-file': '/var/log/mon/backend-stats.log',
    'platform-metrics-logging-interval': '60s',
    'state-dir': '/var/lib/mon/mon-backend',
    'store-max-value-bytes': '1572864',
    'store-sync': 'full',
    'tls-cipher-suites': '',
    'trusted-ca-file': '',
    ...OWN_DEFAULTS,
  },
  'mon-backend init': {
    'cluster-admin-username': '',
    'cluster-admin-password': '',
    'cluster-admin-api-key': '',
    interactive: 'false',
    timeout: '5s',
    wait: 'false',
    'ignore-already-initialized': 'false',
  },
  'mon-backend upgrade': {
    'backup-dir': '',
    'backup-keep': '3',
    'dry-run': 'false',
    'skip-confirm': 'false',
    timeout: '5s',
  },
  'mon-agent start': {
    'api-host': '127.0.0.1',
    'api-port': '3031',
    'backend-url': 'ws://127.0.0.1:8081',
    'cache-dir': '/var/cache/mon/mon-agent',
    'config-file': '/etc/mon/agent.yml',
    'events-burst-limit': '10',
    'events-rate-limit': '10',
    'keepalive-critical-timeout': '0',
    'keepalive-handlers': 'keepalive',
    'keepalive-interval': '20',
    'keepalive-warning-timeout': '120',
    'log-level': 'warn',
    namespace: 'default',
    'socket-host': '127.0.0.1',
    'socket-port': '3030',
    'statsd-flush-interval': '10',
    'statsd-metrics-host': '127.0.0.1',
    'statsd-metrics-port': '8125',
    user: 'agent',
  },
};

const inOneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').replaceAll('\\', '').trim();

describe('docs/configuration.md', () => {
  const page = readFileSync(fileURLToPath(new URL('../../docs/configuration.md', import.meta.url)), 'utf8');

  it('is made from the tables of flags: "npm run configuration" writes it', () => {
    expect(inOneLine(page)).to.equal(inOneLine(configurationPage()));
  });

  for (const [program, names] of [
    ['mon-backend start', BACKEND_FLAGS],
    ['mon-agent start', AGENT_FLAGS],
  ] as const) {
    it(`has every flag that users of the reference know: ${program}`, () => {
      const known = CONFIGURED.find((each) => each.program === program)?.flags ?? {};
      expect(Object.keys(known)).to.include.members(names.trim().split(/\s+/));
    });
  }

  it('has a default for every flag of the backend that has an effect', () => {
    const { flags = {} } = CONFIGURED.find(({ program }) => program === 'mon-backend start') ?? {};
    const withEffect = BACKEND_FLAGS.trim()
      .split(/\s+/)
      .filter((name) => flags[name]?.withoutEffect === undefined);
    expect(Object.keys(DEFAULTS['mon-backend start'] ?? {})).to.have.members(withEffect);
  });

  for (const [program, defaults] of Object.entries(DEFAULTS)) {
    it(`shows the default of each flag: ${program}`, () => {
      const section = inOneLine(page.split(/^## /m).find((each) => each.startsWith(`\`${program}\``)) ?? '');
      const missing = Object.entries(defaults).filter(([flag, value]) => {
        const item = new RegExp(`\`--${flag}[ \`].*?(?= - \`--|$)`).exec(section)?.[0] ?? '';
        return value === '' ? item === '' || item.includes('Default:') : !item.includes(`Default: \`${value}\`.`);
      });
      expect(missing).to.deep.equal([]);
    });
  }
});
