import { expect } from 'chai';
import { parseBackendConfig } from '../../src/config/backend.ts';
import { parseInitConfig } from '../../src/config/init.ts';
import type { Parsed } from '../../src/config/parsing/flags.ts';
import { mistakesOf } from './mistakes.ts';
import { sources } from './sources.ts';

const UUID = '11111111-2222-4333-8444-555555555555';

function configOf<T>(parsed: Parsed<T>): T {
  if ('help' in parsed) throw new Error('help instead of a configuration');
  return parsed.config;
}

const backendOf = (...argv: string[]) => configOf(parseBackendConfig(sources({ argv })));

describe('the configuration of the backend', () => {
  it('has the documented defaults', () => {
    expect(backendOf()).to.deep.equal({
      stateDir: '/var/lib/mon/mon-backend',
      controlSocket: undefined,
      cacheDir: '/var/cache/mon/mon-backend',
      hasDefaultStateDir: true,
      logFile: undefined,
      metricsLog: {
        file: '/var/log/mon/backend-stats.log',
        intervalMs: 60_000,
        maxBytes: 128_000_000,
        retentionMs: 604_800_000,
        maxRotated: 10,
        reaperIntervalMs: 60_000,
      },
      ownEntity: { labels: {}, annotations: {} },
      disabledFeatures: new Set(),
      memberName: 'default',
      apiUrl: undefined,
      commandUser: undefined,
      handlerWorkers: 100,
      logLevel: 'warn',
      api: {
        host: '::',
        port: 8080,
        requestLimitBytes: 512_000,
        writeTimeoutMs: 15_000,
        maxConnections: undefined,
        serveWaitMs: 0,
      },
      agent: { host: '::', port: 8081, writeTimeoutMs: 15_000, maxMessageBytes: 10_485_760 },
      entityLimit: 100,
      entityUseLimits: { checks: 10_000, bytes: 104_857_600 },
      agentEventsPolicy: 'any',
      agentAdmission: { serveWaitMs: 0, connectionsPerS: 0, burst: 0, refusesDuplicates: false },
      assets: { tokensPerS: 1.39, burst: 100, allowed: [] },
      eventLog: undefined,
      dashboard: { host: '::', port: 3000, writeTimeoutMs: 15_000, pair: undefined },
      earlierApi: {
        listen: { host: '127.0.0.1', port: 4567 },
        onDashboard: true,
        requestLimitBytes: 512_000,
        pair: undefined,
        allowsAnonymous: false,
        corsHeaders: {
          'Access-Control-Allow-Origin': '*',
          'Access-Control-Allow-Methods': 'GET, POST, PUT, DELETE, OPTIONS',
          'Access-Control-Allow-Headers': 'Origin, X-Requested-With, Content-Type, Accept, Authorization',
        },
        datacenters: {},
      },
      tls: { pair: undefined, agentAuth: undefined, trustedCa: undefined, skipsVerification: false, cipherSuites: [] },
      deregistrationHandler: undefined,
      watchRetentionMs: 2_592_000_000,
      notificationRetentionMs: 604_800_000,
      ledgerLimits: { ageMs: 31_536_000_000, bytes: 4_294_967_296 },
      eventRetentionMs: 0,
      storeQuotaBytes: 0,
      silenceMatchEntitySubscriptions: false,
      defaultSilenceMs: 0,
      longestSilenceMs: 0,
      tokens: { accessMs: 300_000, refreshMs: 43_200_000, keys: undefined },
      ledgerAnchorHandler: undefined,
      handlerRetryForMs: 3_600_000,
      handlerPatienceMs: 2_000,
      handlerRunLimitMs: 600_000,
      jsWorkers: 2,
      secretVariables: ['MON_SECRET_*'],
      maxAwakeActors: 200_000,
      memoryLimitBytes: 0,
      debug: undefined,
      inspect: false,
      inspectRelay: undefined,
      storeSync: 'full',
      maxValueBytes: 1_572_864,
    });
  });

  it('can be set completely by environment variables', () => {
    const env = {
      MON_BACKEND_STATE_DIR: '/s',
      MON_BACKEND_LOG_FILE: '/l',
      MON_BACKEND_LOG_MAX_SIZE: '5 MB',
      MON_BACKEND_LOG_RETENTION_DURATION: '24h',
      MON_BACKEND_LOG_RETENTION_FILES: '3',
      MON_BACKEND_LOG_REAPER_INTERVAL: '2m',
      MON_BACKEND_PLATFORM_METRICS_LOG_FILE: '/m',
      MON_BACKEND_PLATFORM_METRICS_LOGGING_INTERVAL: '30s',
      MON_BACKEND_LABELS: '{"rack":"R7"}',
      MON_BACKEND_ANNOTATIONS: 'owner=ops',
      MON_BACKEND_DISABLE_FEATURES: 'metrics graphql',
      MON_BACKEND_ETCD_NAME: 'berlin',
      MON_BACKEND_API_URL: 'https://mon.example',
      MON_BACKEND_PIPELINED_WORKERS: '7',
      MON_BACKEND_COMMAND_USER: 'mon-commands',
      MON_BACKEND_AGENT_BURST_LIMIT: '3',
      MON_BACKEND_TLS_CIPHER_SUITES: 'TLS_AES_128_GCM_SHA256,TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
      MON_BACKEND_CACHE_DIR: '/c',
      MON_BACKEND_LOG_LEVEL: 'WARNING',
      MON_BACKEND_API_LISTEN_ADDRESS: '[::1]:0',
      MON_BACKEND_AGENT_HOST: '127.0.0.1',
      MON_BACKEND_AGENT_PORT: '0',
      MON_BACKEND_DASHBOARD_HOST: '[fe80::1]',
      MON_BACKEND_DASHBOARD_PORT: '9',
      MON_BACKEND_API_REQUEST_LIMIT: '1',
      MON_BACKEND_API_WRITE_TIMEOUT: '2s',
      MON_BACKEND_API_MAX_CONNECTIONS: '500',
      MON_BACKEND_API_SERVE_WAIT_TIME: '4s',
      MON_BACKEND_AGENT_WRITE_TIMEOUT: '3',
      MON_BACKEND_AGENT_MAX_MESSAGE_SIZE: '4',
      MON_BACKEND_ENTITY_LIMIT: '7',
      MON_BACKEND_ENTITY_CHECK_LIMIT: '8',
      MON_BACKEND_MEMORY_LIMIT: '300',
      MON_BACKEND_CONTROL_SOCKET: '/run/c',
      MON_BACKEND_ENTITY_SIZE_LIMIT: '0',
      MON_BACKEND_AGENT_EVENTS_POLICY: 'own',
      MON_BACKEND_AGENT_SERVE_WAIT_TIME: '8s',
      MON_BACKEND_AGENT_RATE_LIMIT: '0.5',
      MON_BACKEND_AGENT_REFUSE_DUPLICATES: 'true',
      MON_BACKEND_ASSETS_RATE_LIMIT: '0.5',
      MON_BACKEND_ASSETS_BURST_LIMIT: '6',
      MON_BACKEND_ASSETS_ALLOWED_NETWORKS: 'public 10.0.0.0/8',
      MON_BACKEND_EVENT_LOG_FILE: '/e',
      MON_BACKEND_EVENT_LOG_BUFFER_SIZE: '9',
      MON_BACKEND_EVENT_LOG_BUFFER_WAIT: '1s',
      MON_BACKEND_EVENT_LOG_PARALLEL_ENCODERS: 'true',
      MON_BACKEND_DEREGISTRATION_HANDLER: 'cmdb',
      MON_BACKEND_SILENCE_MATCH_ENTITY_SUBSCRIPTIONS: 'true',
      MON_BACKEND_DEFAULT_SILENCED_EXPIRY_TIME: '60m',
      MON_BACKEND_MAX_SILENCED_EXPIRY_TIME_ALLOWED: '1440m',
      MON_BACKEND_JWT_PRIVATE_KEY_FILE: '/k',
      MON_BACKEND_JWT_PUBLIC_KEY_FILE: '/p',
      MON_BACKEND_ACCESS_TOKEN_EXPIRY: '1m',
      MON_BACKEND_REFRESH_TOKEN_EXPIRY: '10080m',
      MON_BACKEND_LEDGER_ANCHOR_HANDLER: 'notary',
      MON_BACKEND_HANDLER_RUN_LIMIT: '0',
      MON_BACKEND_HANDLER_RETRY_FOR: '90s',
      MON_BACKEND_HANDLER_PATIENCE: '500ms',
      MON_BACKEND_JS_WORKERS: '16',
      MON_BACKEND_SECRETS_ENV_ALLOW: 'KEY DB_*',
      MON_BACKEND_MAX_AWAKE_ACTORS: '5',
      MON_BACKEND_NOTIFICATION_RETENTION: '48h',
      MON_BACKEND_WATCH_RETENTION: '168h',
      MON_BACKEND_INSPECT: 'true',
      MON_BACKEND_INSPECT_URL: 'ws://relay:8088',
      MON_BACKEND_INSPECT_ACTORS: 'entity:default/a check-ttl:default/a/disk',
      MON_BACKEND_STORE_SYNC: 'none',
      MON_BACKEND_DASHBOARD_WRITE_TIMEOUT: '5s',
      MON_BACKEND_DASHBOARD_CERT_FILE: '/dc',
      MON_BACKEND_DASHBOARD_KEY_FILE: '/dk',
      MON_BACKEND_LEGACY_API_LISTEN_ADDRESS: '[::1]:9',
      MON_BACKEND_LEGACY_DASHBOARD_API: 'false',
      MON_BACKEND_LEGACY_API_USER: 'old',
      MON_BACKEND_LEGACY_API_PASSWORD: 'pa:ss',
      MON_BACKEND_LEGACY_API_ALLOW_ANONYMOUS: 'true',
      MON_BACKEND_LEGACY_API_REQUEST_LIMIT: '7',
      MON_BACKEND_LEGACY_API_CORS: 'false',
      MON_BACKEND_LEDGER_RETENTION: '48h',
      MON_BACKEND_LEDGER_RETENTION_SIZE: '8',
      MON_BACKEND_EVENT_RETENTION: '24h',
      MON_BACKEND_STORE_QUOTA: '16',
      MON_BACKEND_LEGACY_DATACENTERS: 'ops=berlin',
    };
    const parsed = parseBackendConfig(sources({ env }));
    expect(configOf(parsed)).to.deep.equal({
      stateDir: '/s',
      controlSocket: '/run/c',
      cacheDir: '/c',
      hasDefaultStateDir: false,
      logFile: {
        file: '/l',
        maxBytes: 5_000_000,
        retentionMs: 86_400_000,
        maxRotated: 3,
        reaperIntervalMs: 120_000,
      },
      metricsLog: {
        file: '/m',
        intervalMs: 30_000,
        maxBytes: 5_000_000,
        retentionMs: 86_400_000,
        maxRotated: 3,
        reaperIntervalMs: 120_000,
      },
      ownEntity: { labels: { rack: 'R7' }, annotations: { owner: 'ops' } },
      disabledFeatures: new Set(['graphql', 'metrics']),
      memberName: 'berlin',
      apiUrl: 'https://mon.example',
      commandUser: 'mon-commands',
      handlerWorkers: 7,
      logLevel: 'warn',
      api: {
        host: '::1',
        port: 0,
        requestLimitBytes: 1,
        writeTimeoutMs: 2_000,
        maxConnections: 500,
        serveWaitMs: 4_000,
      },
      agent: { host: '127.0.0.1', port: 0, writeTimeoutMs: 3_000, maxMessageBytes: 4 },
      entityLimit: 7,
      entityUseLimits: { checks: 8, bytes: 0 },
      agentEventsPolicy: 'own',
      agentAdmission: { serveWaitMs: 8_000, connectionsPerS: 0.5, burst: 3, refusesDuplicates: true },
      assets: {
        tokensPerS: 0.5,
        burst: 6,
        allowed: ['public', { address: { family: 4, bytes: [10, 0, 0, 0] }, prefixBits: 8 }],
      },
      eventLog: { file: '/e', maxBuffered: 9 },
      dashboard: {
        host: 'fe80::1',
        port: 9,
        writeTimeoutMs: 5_000,
        pair: {
          cert: { flag: 'dashboard-cert-file', path: '/dc' },
          key: { flag: 'dashboard-key-file', path: '/dk' },
        },
      },
      earlierApi: {
        listen: { host: '::1', port: 9 },
        onDashboard: false,
        requestLimitBytes: 7,
        pair: { username: 'old', password: 'pa:ss' },
        allowsAnonymous: true,
        corsHeaders: {},
        datacenters: { ops: 'berlin' },
      },
      tls: {
        pair: undefined,
        agentAuth: undefined,
        trustedCa: undefined,
        skipsVerification: false,
        cipherSuites: ['TLS_AES_128_GCM_SHA256', 'ECDHE-RSA-AES128-GCM-SHA256'],
      },
      deregistrationHandler: 'cmdb',
      watchRetentionMs: 604_800_000,
      notificationRetentionMs: 172_800_000,
      ledgerLimits: { ageMs: 172_800_000, bytes: 8_388_608 },
      eventRetentionMs: 86_400_000,
      storeQuotaBytes: 16_777_216,
      silenceMatchEntitySubscriptions: true,
      defaultSilenceMs: 3_600_000,
      longestSilenceMs: 86_400_000,
      tokens: {
        accessMs: 60_000,
        refreshMs: 604_800_000,
        keys: {
          privateKey: { flag: 'jwt-private-key-file', path: '/k' },
          publicKey: { flag: 'jwt-public-key-file', path: '/p' },
        },
      },
      ledgerAnchorHandler: 'notary',
      handlerRetryForMs: 90_000,
      handlerPatienceMs: 500,
      handlerRunLimitMs: 0,
      jsWorkers: 16,
      secretVariables: ['KEY', 'DB_*'],
      maxAwakeActors: 5,
      memoryLimitBytes: 314_572_800,
      debug: undefined,
      inspect: true,
      inspectRelay: {
        url: 'ws://relay:8088',
        addresses: [
          { actor: 'entity', key: 'default/a' },
          { actor: 'check-ttl', key: 'default/a/disk' },
        ],
      },
      storeSync: 'none',
      maxValueBytes: 1_572_864,
    });
    const ignored = {
      'event-log-buffer-wait': 'the backend never waits for the event log',
      'event-log-parallel-encoders': 'one encoder is fast enough',
    };
    expect('warnings' in parsed ? parsed.warnings : []).to.deep.equal([
      { message: 'settings without effect', fields: ignored },
      { message: 'acknowledged data may be lost when the machine fails', fields: { flag: 'store-sync' } },
    ]);
  });

  it('keeps the case of the keys in the maps of its file', () => {
    const text = 'labels: {rackRow: R7}\nannotations: {Owner: ops}\nlegacy-datacenters: {Prod: Berlin}\n';
    const files = { '/etc/mon/backend.yml': text };
    const { ownEntity, earlierApi } = configOf(parseBackendConfig(sources({ argv: [], files })));
    expect(ownEntity).to.deep.equal({ labels: { rackRow: 'R7' }, annotations: { Owner: 'ops' } });
    expect(earlierApi?.datacenters).to.deep.equal({ Prod: 'Berlin' });
  });

  for (const [what, argv, rule] of [
    ['a URL of another kind', ['http://relay'], 'must be a URL that begins with ws:// or wss://'],
    ['no actor', ['ws://relay'], 'inspect-actors: actor must be given at least once'],
    ['an invalid actor', ['ws://relay', '--inspect-actors', 'web-01'], 'inspect-actors: actor must be <actor>:<key>'],
  ] as const) {
    it(`rejects an inspector relay with ${what}`, () => {
      const mistakes = mistakesOf(() => backendOf('--inspect-url', ...argv));
      expect(mistakes).to.have.lengthOf(1);
      expect(mistakes[0]).to.include(rule);
    });
  }

  it('takes the limits of the store from the flags of the reference, unless those of mon are given', () => {
    const reference = ['--etcd-quota-backend-bytes=1000', '--etcd-max-request-bytes=2000'];
    expect(backendOf(...reference)).to.include({ storeQuotaBytes: 1_000, maxValueBytes: 2_000 });
    const own = ['--store-quota=3', '--store-max-value-bytes=4'];
    expect(backendOf(...reference, ...own)).to.include({ storeQuotaBytes: 3_145_728, maxValueBytes: 4 });
    expect(backendOf(...reference, '--store-quota=0')).to.include({ storeQuotaBytes: 0 });
    expect(backendOf('--etcd-quota-backend-bytes=-1')).to.include({ storeQuotaBytes: 0 });
  });

  it('refuses a memory limit below 64 MiB', () => {
    for (const limit of [1, 63]) {
      const mistakes = mistakesOf(() => backendOf(`--memory-limit=${limit}`));
      expect(mistakes).to.deep.equal([
        'memory-limit must be 0 or at least 64 MiB, because a backend near its limit refuses changes',
      ]);
    }
    expect(backendOf('--memory-limit=64').memoryLimitBytes).to.equal(67_108_864);
    expect(backendOf('--memory-limit=0').memoryLimitBytes).to.equal(0);
  });

  it('refuses to sync the store at intervals, and says why', () => {
    expect(mistakesOf(() => backendOf('--store-sync', 'interval=100'))[0]).to.include(
      'must be full or none; a power cut between two syncs could damage the whole store',
    );
    expect(mistakesOf(() => backendOf('--store-sync', 'often'))[0]).to.include('must be one of full, none');
  });

  it('is deeply frozen', () => {
    const config = backendOf();
    expect([config, config.api, config.agent, config.dashboard]).to.satisfy((parts: object[]) =>
      parts.every(Object.isFrozen),
    );
  });

  for (const { address, is } of [
    { address: '127.0.0.1:1', is: { host: '127.0.0.1', port: 1 } },
    { address: ':8080', is: { host: '::', port: 8080 } },
    { address: 'localhost:65535', is: { host: 'localhost', port: 65_535 } },
    { address: '[::]:0', is: { host: '::', port: 0 } },
  ]) {
    it(`accepts the listen address ${address}`, () => {
      expect(backendOf('--api-listen-address', address).api).to.include(is);
    });
  }

  for (const address of ['8080', '::1:8080', '[::1]', 'a:65536', 'a:', 'a:b']) {
    it(`rejects the listen address ${address}`, () => {
      expect(mistakesOf(() => backendOf('--api-listen-address', address))[0]).to.match(/must be host:port/);
    });
  }

  it('rejects an unknown log level and names it', () => {
    expect(mistakesOf(() => backendOf('--log-level', 'loud'))).to.deep.equal(['not a valid log level: "loud"']);
  });

  for (const flag of ['deregistration-handler', 'ledger-anchor-handler']) {
    it(`rejects a ${flag} that cannot be the name of a handler`, () => {
      const rule = `${flag} cannot contain spaces or special characters`;
      expect(mistakesOf(() => backendOf(`--${flag}`, 'x y'))).to.deep.equal([rule]);
    });
  }

  it('rejects timeouts of 0', () => {
    expect(mistakesOf(() => backendOf('--api-write-timeout', '0', '--agent-write-timeout', '0'))).to.have.lengthOf(2);
  });
});

describe('the configuration of init', () => {
  const admin = ['--cluster-admin-username', 'admin', '--cluster-admin-password', 'P@ssw0rd!'];
  const initOf = (...argv: string[]) => configOf(parseInitConfig(sources({ argv })));

  it('reads the administrator from flags or the environment', () => {
    const expected = { username: 'admin', password: 'P@ssw0rd!', apiKey: UUID };
    expect(initOf(...admin, '--cluster-admin-api-key', UUID).admin).to.deep.equal(expected);
    const env = {
      MON_BACKEND_CLUSTER_ADMIN_USERNAME: 'admin',
      MON_BACKEND_CLUSTER_ADMIN_PASSWORD: 'P@ssw0rd!',
      MON_BACKEND_CLUSTER_ADMIN_API_KEY: UUID,
    };
    expect(configOf(parseInitConfig(sources({ env }))).admin).to.deep.equal(expected);
  });

  it('has one attempt of five seconds by default', () => {
    expect(initOf(...admin)).to.include({ timeoutMs: 5_000, wait: false, ignoreAlreadyInitialized: false });
    expect(initOf(...admin, '--timeout', '3', '--wait', '--ignore-already-initialized')).to.include({
      timeoutMs: 3_000,
      wait: true,
      ignoreAlreadyInitialized: true,
    });
  });

  it('is rejected with the names of both flags when the administrator is incomplete', () => {
    const rule =
      'both flags --cluster-admin-username and --cluster-admin-password are required; ' +
      'with --interactive the command asks for them';
    expect(mistakesOf(() => initOf('--cluster-admin-api-key', UUID))).to.deep.equal([rule]);
    expect(mistakesOf(() => initOf('--cluster-admin-username', 'admin'))).to.deep.equal([rule]);
  });

  it('rejects a short password and a key that is not a UUID, without showing them', () => {
    const short = ['--cluster-admin-username', 'admin', '--cluster-admin-password', 'hunter2'];
    expect(mistakesOf(() => initOf(...short, '--cluster-admin-api-key', 'k3y'))).to.deep.equal([
      'cluster-admin-password must be at least 8 characters',
      'cluster-admin-api-key must be a UUID',
    ]);
  });

  it('accepts the file of the backend, with keys of other commands', () => {
    const files = { '/etc/mon/backend.yml': 'state-dir: /data\nagent-port: 1\n' };
    const parsed = parseInitConfig(sources({ argv: admin, files }));
    expect(configOf(parsed).stateDir).to.equal('/data');
    expect('warnings' in parsed ? parsed.warnings : undefined).to.deep.equal([]);
  });

  describe('for the API of the first generation', () => {
    it('closes its own port with an empty address', () => {
      const { earlierApi } = backendOf('--legacy-api-listen-address=');
      expect(earlierApi).to.include({ listen: undefined, onDashboard: true });
    });

    it('turns it off on both ports', () => {
      const off = ['--legacy-api-listen-address=', '--legacy-dashboard-api=false'];
      expect(backendOf(...off)).to.not.have.property('earlierApi');
    });

    it('has the origin and the credentials of scripts in browsers', () => {
      const args = ['--legacy-api-cors-origin=https://wall.example', '--legacy-api-cors-credentials'];
      expect(backendOf(...args).earlierApi?.corsHeaders).to.include({
        'Access-Control-Allow-Origin': 'https://wall.example',
        'Access-Control-Allow-Credentials': 'true',
      });
    });

    for (const [args, rule] of [
      [['--legacy-api-user=a'], /legacy-api-user and legacy-api-password are required together/],
      [['--legacy-api-password=a'], /legacy-api-user and legacy-api-password are required together/],
      [['--legacy-api-cors-credentials'], /legacy-api-cors-credentials requires legacy-api-cors-origin/],
      [['--legacy-datacenters=a=x,b=x'], /legacy-datacenters must have different names: x is there twice/],
      [['--legacy-datacenters=a=x/y'], /legacy-datacenters must have names without/],
      [['--legacy-api-listen-address=4567'], /must be host:port/],
      [['--legacy-api-cors-origin=a\nb'], /must be the value of a header in ASCII/],
    ] as const) {
      it(`rejects ${args.join(' ').replace('\n', ' ')}`, () => {
        expect(mistakesOf(() => backendOf(...args))[0]).to.match(rule);
      });
    }
  });
});
