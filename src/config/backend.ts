import { type AdmissionConfig, admissionConfig, admissionFlags } from './admission-flags.ts';
import { type BackendTls, backendTlsFlags, backendTlsOf, backendTlsRules } from './backend-tls.ts';
import { type EventLogConfig, eventLogConfig, eventLogFlags } from './event-log-flags.ts';
import { type FirstAdmin, firstAdminFlags, firstAdminOf, firstAdminRules } from './first-admin-flags.ts';
import { type Flag, InvalidValue, kinds, type LogLevel, type Parsed, parseFlags, type Sources } from './flags.ts';
import { type InspectConfig, inspectConfig, inspectFlags, relayIsWhole } from './inspect-flags.ts';
import { type SilenceConfig, silenceConfig, silenceFlags, silenceRule } from './silence-flags.ts';
import { type TokenConfig, tokenConfig, tokenFlags, tokenRules } from './token-flags.ts';

const DEFAULT_STATE_DIR = '/var/lib/mon/mon-backend';
const DEFAULT_CONFIG_FILE = '/etc/mon/backend.yml';
const MAX_PORT = 65_535;
const MAX_LIMIT_BYTES = 2 ** 31 - 1;
const MAX_TIMEOUT_S = 86_400;
const MAX_AWAKE_ACTORS = 100_000_000;

/** Host without brackets, as `net` takes it. Port 0 lets the system choose. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

export interface BackendConfig extends InspectConfig, AdmissionConfig, EventLogConfig, SilenceConfig, TokenConfig {
  readonly stateDir: string;
  readonly cacheDir: string;
  readonly logLevel: LogLevel;
  readonly api: ListenAddress & {
    readonly requestLimitBytes: number;
    readonly writeTimeoutMs: number;
    /** Requests are refused for so long after the start; not at all unless it is given. */
    readonly serveWaitMs?: number;
  };
  readonly agent: ListenAddress & { readonly writeTimeoutMs: number; readonly maxMessageBytes: number };
  readonly dashboard: ListenAddress;
  /** Clear text unless given. */
  readonly tls?: BackendTls;
  /** For agents that leave and name no handler themselves. */
  readonly deregistrationHandler?: string | undefined;
  /** Gets the head of the ledger every hour; it stands in the log anyway. */
  readonly ledgerAnchorHandler?: string | undefined;
  /** For pipe handlers without a timeout; none unless it is given. */
  readonly handlerRunLimitMs?: number;
  /** State machines that may be awake at once; the bound of the system unless it is given. */
  readonly maxAwakeActors?: number;
  /** `full`: what is acknowledged survives a power cut. */
  readonly storeSync: 'full' | 'none';
}

export interface InitConfig {
  readonly stateDir: string;
  /** Undefined where it is to be asked for. */
  readonly admin: FirstAdmin | undefined;
  /** For one whole attempt. */
  readonly timeoutMs: number;
  readonly wait: boolean;
  readonly ignoreAlreadyInitialized: boolean;
}

/** An entry of the ledger as it was known elsewhere. */
export interface LedgerAnchor {
  readonly seq: number;
  readonly hash: string;
}

export interface VerifyConfig {
  readonly stateDir: string;
  readonly anchor: LedgerAnchor | undefined;
}

const withoutBrackets = (host: string): string => (/^\[.*\]$/.test(host) ? host.slice(1, -1) : host);

/** `host:port`, an IPv6 host in brackets, an empty host for all addresses. */
const addressKind: Flag<ListenAddress>['kind'] = {
  placeholder: 'host:port',
  fromTexts(texts) {
    const [, host, digits] = /^(\[[0-9A-Fa-f:.%\w]*\]|[^:[\]]*):(\d{1,5})$/.exec(texts.at(-1) ?? '') ?? [];
    const port = Number(digits);
    if (host === undefined || port > MAX_PORT) {
      throw new InvalidValue(`must be host:port with an IPv6 host in brackets and a port from 0 to ${MAX_PORT}`);
    }
    return { host: host === '' ? '::' : withoutBrackets(host), port };
  },
  show: ({ host, port }) => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`),
};

const port = (fallback: number, about: string): Flag<number> => ({ kind: kinds.integer(0, MAX_PORT), fallback, about });
const host = (about: string): Flag<string> => ({ kind: kinds.text, fallback: '[::]', about });

const sharedFlags = {
  'state-dir': { kind: kinds.text, fallback: DEFAULT_STATE_DIR, short: 'd', about: 'where the store is kept' },
  'config-file': { kind: kinds.text, fallback: DEFAULT_CONFIG_FILE, short: 'c', about: 'YAML file with these flags' },
} satisfies Record<string, Flag<string>>;

const startFlags = {
  ...sharedFlags,
  'cache-dir': { kind: kinds.text, fallback: '/var/cache/mon/mon-backend', about: 'where unpacked assets are kept' },
  'log-level': { kind: kinds.logLevel, fallback: 'warn' as LogLevel, about: 'panic fatal error warn info debug trace' },
  'api-listen-address': {
    kind: addressKind,
    fallback: { host: '::', port: 8080 },
    about: 'address of the REST API',
  },
  'api-request-limit': {
    kind: kinds.integer(1, MAX_LIMIT_BYTES),
    fallback: 512_000,
    about: 'largest request body in bytes',
  },
  'api-write-timeout': {
    kind: kinds.duration(),
    fallback: 15_000,
    about: 'a client that does not read is cut after it',
  },
  'api-serve-wait-time': {
    kind: kinds.duration(),
    fallback: 0,
    about: 'the API answers 503 for so long after the start',
  },
  'agent-host': host('address for agents'),
  'agent-port': port(8081, 'port for agents'),
  'agent-write-timeout': {
    kind: kinds.integer(1, MAX_TIMEOUT_S),
    fallback: 15,
    about: 'an agent that does not read is cut after so many seconds',
  },
  'agent-max-message-size': {
    kind: kinds.integer(1, MAX_LIMIT_BYTES),
    fallback: 10_485_760,
    about: 'largest message of an agent in bytes',
  },
  ...admissionFlags,
  'dashboard-host': host('address of the dashboard'),
  'dashboard-port': port(3000, 'port of the dashboard'),
  ...backendTlsFlags,
  ...tokenFlags,
  'deregistration-handler': {
    kind: kinds.text,
    fallback: '',
    about: 'handler of deregistration events of agents that name none',
  },
  ...silenceFlags,
  'ledger-anchor-handler': {
    kind: kinds.text,
    fallback: '',
    about: 'handler in namespace mon-system that gets the head of the ledger every hour',
  },
  'handler-run-limit': {
    kind: kinds.duration(),
    fallback: 600_000,
    about: 'a pipe handler without a timeout is killed after it; 0 = never',
  },
  'max-awake-actors': {
    kind: kinds.integer(1, MAX_AWAKE_ACTORS),
    fallback: 200_000,
    about: 'state machines kept in memory, about 2.5 kB each; the others sleep in the store',
  },
  ...eventLogFlags,
  ...inspectFlags,
  'store-sync': {
    kind: kinds.word(['full', 'none']),
    fallback: 'full' as 'full' | 'none',
    about: 'none loses what was acknowledged when the machine fails',
  },
};

const initFlags = {
  ...sharedFlags,
  ...firstAdminFlags,
  timeout: { kind: kinds.duration({ bareSeconds: true }), fallback: 5000, about: 'for one whole attempt' },
  wait: { kind: kinds.boolean, fallback: false, about: 'try for ever until the store answers' },
  'ignore-already-initialized': { kind: kinds.boolean, fallback: false, about: 'exit 0 instead of 3' },
} satisfies Record<string, Flag<unknown>>;

const stateDirIsSet = {
  flags: ['state-dir'] as const,
  broken: (values: { 'state-dir': string }) => (values['state-dir'] === '' ? 'state-dir must not be empty' : undefined),
};

/** The flags of `mon-backend start`, without the command itself. @throws ConfigError */
export function parseBackendConfig(sources: Sources): Parsed<BackendConfig> {
  return parseFlags<typeof startFlags, BackendConfig>(
    {
      usage: 'mon-backend start',
      environmentPrefix: 'MON_BACKEND_',
      flags: startFlags,
      keysOfOthers: Object.keys(initFlags),
      rules: [
        stateDirIsSet,
        ...backendTlsRules,
        ...tokenRules,
        silenceRule,
        {
          flags: ['api-write-timeout'],
          broken: (values) => (values['api-write-timeout'] > 0 ? undefined : 'api-write-timeout must be above 0'),
        },
        relayIsWhole,
      ],
      build(values, warn): BackendConfig {
        if (values['store-sync'] === 'none') {
          warn({ message: 'acknowledged data may be lost when the machine fails', fields: { flag: 'store-sync' } });
        }
        return Object.freeze({
          stateDir: values['state-dir'],
          cacheDir: values['cache-dir'],
          logLevel: values['log-level'],
          api: Object.freeze({
            ...values['api-listen-address'],
            requestLimitBytes: values['api-request-limit'],
            writeTimeoutMs: values['api-write-timeout'],
            serveWaitMs: values['api-serve-wait-time'],
          }),
          agent: Object.freeze({
            host: withoutBrackets(values['agent-host']),
            port: values['agent-port'],
            writeTimeoutMs: values['agent-write-timeout'] * 1000,
            maxMessageBytes: values['agent-max-message-size'],
          }),
          dashboard: Object.freeze({
            host: withoutBrackets(values['dashboard-host']),
            port: values['dashboard-port'],
          }),
          tls: backendTlsOf(values, warn),
          deregistrationHandler: values['deregistration-handler'] || undefined,
          handlerRunLimitMs: values['handler-run-limit'],
          maxAwakeActors: values['max-awake-actors'],
          ledgerAnchorHandler: values['ledger-anchor-handler'] || undefined,
          ...silenceConfig(values),
          ...tokenConfig(values),
          ...admissionConfig(values),
          ...eventLogConfig(values),
          ...inspectConfig(values),
          storeSync: values['store-sync'],
        });
      },
    },
    sources,
  );
}

const anchorKind: Flag<LedgerAnchor | undefined>['kind'] = {
  placeholder: 'number:hash',
  fromTexts(texts) {
    const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(texts.at(-1) ?? '') ?? [];
    if (hash === undefined) throw new InvalidValue('must be number:hash, as the log and `ledger verify` print it');
    return { seq: Number(seq), hash };
  },
  show: () => '',
};

const verifyFlags = {
  ...sharedFlags,
  anchor: {
    kind: anchorKind,
    fallback: undefined as LedgerAnchor | undefined,
    about: 'the ledger must have held this entry since it was printed',
  },
};

/** The flags of `mon-backend ledger verify`, without the command itself. @throws ConfigError */
export function parseVerifyConfig(sources: Sources): Parsed<VerifyConfig> {
  return parseFlags(
    {
      usage: 'mon-backend ledger verify',
      environmentPrefix: 'MON_BACKEND_',
      flags: verifyFlags,
      keysOfOthers: [...Object.keys(startFlags), ...Object.keys(initFlags)],
      rules: [stateDirIsSet],
      build: (values): VerifyConfig => Object.freeze({ stateDir: values['state-dir'], anchor: values.anchor }),
    },
    sources,
  );
}

/** The flags of `mon-backend init`, without the command itself. @throws ConfigError */
export function parseInitConfig(sources: Sources): Parsed<InitConfig> {
  return parseFlags<typeof initFlags, InitConfig>(
    {
      usage: 'mon-backend init',
      environmentPrefix: 'MON_BACKEND_',
      flags: initFlags,
      keysOfOthers: Object.keys(startFlags),
      rules: [
        stateDirIsSet,
        ...firstAdminRules,
        {
          flags: ['timeout'],
          broken: (values) => (values.timeout > 0 ? undefined : 'timeout must be above 0'),
        },
      ],
      build: (values): InitConfig =>
        Object.freeze({
          stateDir: values['state-dir'],
          admin: values.interactive ? undefined : firstAdminOf(values),
          timeoutMs: values.timeout,
          wait: values.wait,
          ignoreAlreadyInitialized: values['ignore-already-initialized'],
        }),
    },
    sources,
  );
}
