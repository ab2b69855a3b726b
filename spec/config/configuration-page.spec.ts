import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { CONFIGURED, configurationPage } from '../support/configuration-page.ts';

/** The flags of `start` in `spec/06` 3. */
const BACKEND_FLAGS = `
  access-token-expiry agent-auth-cert-file agent-auth-crl-urls agent-auth-key-file agent-auth-trusted-ca-file
  agent-burst-limit agent-host agent-port agent-rate-limit agent-serve-wait-time agent-write-timeout
  annotations api-listen-address api-request-limit api-serve-wait-time api-url api-write-timeout
  assets-burst-limit assets-rate-limit cache-dir cert-file config-file dashboard-cert-file dashboard-host
  dashboard-key-file dashboard-port dashboard-write-timeout debug default-silenced-expiry-time
  deregistration-handler disable-platform-metrics etcd-advertise-client-urls etcd-cert-file etcd-cipher-suites
  etcd-client-cert-auth etcd-client-log-level etcd-client-urls etcd-discovery etcd-discovery-srv
  etcd-election-timeout etcd-heartbeat-interval etcd-initial-advertise-peer-urls etcd-initial-cluster
  etcd-initial-cluster-state etcd-initial-cluster-token etcd-key-file etcd-listen-client-urls
  etcd-listen-peer-urls etcd-log-level etcd-max-request-bytes etcd-name etcd-peer-cert-file
  etcd-peer-client-cert-auth etcd-peer-key-file etcd-peer-trusted-ca-file etcd-quota-backend-bytes
  etcd-trusted-ca-file etcd-unsafe-no-fsync event-log-buffer-size event-log-buffer-wait event-log-file
  event-log-parallel-encoders eventd-buffer-size eventd-workers insecure-skip-tls-verify jwt-private-key-file
  jwt-public-key-file keepalived-buffer-size keepalived-workers key-file labels log-level
  log-millisecond-timestamps max-silenced-expiry-time-allowed metrics-refresh-interval no-embed-etcd
  pipelined-buffer-size pipelined-workers platform-metrics-log-file platform-metrics-logging-interval
  refresh-token-expiry require-fips state-dir trusted-ca-file
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

/** Defaults that `spec/06` 3 and the seed give, as the page shows them. */
const DEFAULTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'mon-backend start': {
    'state-dir': '/var/lib/mon/mon-backend',
    'cache-dir': '/var/cache/mon/mon-backend',
    'config-file': '/etc/mon/backend.yml',
    'log-level': 'warn',
    'agent-port': '8081',
    'agent-write-timeout': '15',
    'api-listen-address': '[::]:8080',
    'api-request-limit': '512000',
    'api-write-timeout': '15s',
    'dashboard-port': '3000',
    'event-log-buffer-size': '100000',
    'assets-rate-limit': '1.39',
    'assets-burst-limit': '100',
    'pipelined-workers': '100',
    'platform-metrics-log-file': '/var/log/mon/backend-stats.log',
    'platform-metrics-logging-interval': '60s',
    'entity-limit': '100',
    'etcd-name': 'default',
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

    it(`has the defaults that users of the reference know: ${program}`, () => {
      const section = inOneLine(page.split(/^## /m).find((each) => each.startsWith(`\`${program}\``)) ?? '');
      const missing = Object.entries(DEFAULTS[program] ?? {}).filter(([flag, value]) => {
        const item = new RegExp(`\`--${flag}[ \`].*?(?= - \`--|$)`).exec(section)?.[0] ?? '';
        return !item.includes(`Default: \`${value}\`.`);
      });
      expect(missing).to.deep.equal([]);
    });
  }
});
