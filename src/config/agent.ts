import { InvalidResource } from '../resources/errors.ts';
import { assertName } from '../resources/names.ts';
import { agentFlags, type AgentFlags } from './agent-flags.ts';
import type { LogLevel } from './flag-kinds.ts';
import { type ConfigWarning, type FlagValues, type Parsed, parseFlags, type Program, type Sources } from './flags.ts';
import { fileOf, type KeyPairFiles, keyPairOf, type NamedFile, keyPairRule } from './tls-flags.ts';

const DEFAULT_BACKEND_PORT = '8081';
const DEFAULT_HANDSHAKE_TIMEOUT_S = 15;
const DEFAULT_HEARTBEAT_INTERVAL_S = 30;
const DEFAULT_HEARTBEAT_TIMEOUT_S = 45;
const DEFAULT_RETRY_MULTIPLIER = 2;
const MIN_TIMEOUT_S = 5;

/** The characters that headers can carry: no control characters, and one byte each. */
const HEADER_TEXT = /^[\x20-\x7e\xa0-\xff]*$/;
const LABEL_KEY = /^[A-Za-z]\w*$/;
/** A space may replace the dot before the name. */
const PIPELINE = /^core\/v2\.Pipeline[. ]([\w.:-]+)$/;

type TextMap = Readonly<Record<string, string>>;

/** TLS towards backends of `wss:`. */
export interface AgentTls {
  /** Authorities of backends, instead of the default ones. */
  readonly ca: NamedFile | undefined;
  /** The certificate of the agent. With it the agent sends no password, not even over `ws:`. */
  readonly pair: KeyPairFiles | undefined;
  /** Whether backends are trusted without verification. */
  readonly skipsVerification: boolean;
}

export interface AgentConfig {
  readonly name: string;
  readonly namespace: string;
  readonly labels: TextMap;
  readonly annotations: TextMap;
  /** Empty for the default keys. */
  readonly redact: readonly string[];
  readonly subscriptions: readonly string[];
  readonly deregister: boolean;
  /** Empty for none. */
  readonly deregistrationHandler: string;
  readonly isAgentManaged: boolean;
  /** At least one; `ws` or `wss`, with a port. */
  readonly backendUrls: readonly string[];
  readonly user: string;
  readonly password: string;
  readonly tls: AgentTls;
  readonly link: {
    readonly handshakeTimeoutMs: number;
    readonly retry: { readonly minMs: number; readonly maxMs: number; readonly multiplier: number };
    /** 0 = no limit. */
    readonly maxSessionMs: number;
  };
  readonly heartbeat: { readonly intervalMs: number; readonly timeoutMs: number };
  readonly keepalive: {
    readonly intervalS: number;
    readonly warningTimeoutS: number;
    /** 0 = none. */
    readonly criticalTimeoutS: number;
    readonly handlers: readonly string[];
    readonly labels: TextMap;
    readonly annotations: TextMap;
    /** Names of pipelines. */
    readonly pipelines: readonly string[];
  };
  readonly maxQueuedEvents: number;
  readonly cacheDir: string;
  readonly logLevel: LogLevel;
}

type Values = FlagValues<AgentFlags>;
type Rules = Program<AgentFlags, AgentConfig>['rules'];

/** Adds the port only if the text has none: an explicit default port of the scheme must be kept. */
function withPort(text: string): URL | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (!/^[^:]+:\/\/[^/?#]*:\d+(?=[/?#]|$)/.test(text)) url.port = DEFAULT_BACKEND_PORT;
  return url;
}

function urlError(urls: readonly string[]): string | undefined {
  if (urls.length === 0) return 'no backend URLs defined';
  const errors = urls.map((text) => {
    const url = withPort(text);
    if (url === undefined) return `backend URL (${text}) is not a valid URL`;
    if (url.protocol === 'ws:' || url.protocol === 'wss:') return undefined;
    [url.username, url.password] = ['', ''];
    return `backend URL (${url.href.replace(/\/$/, '')}) must have ws:// or wss:// scheme`;
  });
  return errors.find((error) => error !== undefined);
}

function nameError(name: string): string | undefined {
  try {
    assertName(name, 'invalid agent name:');
    return undefined;
  } catch (error) {
    if (error instanceof InvalidResource) return error.message;
    throw error;
  }
}

const rules: Rules = [
  {
    flags: ['keepalive-critical-timeout', 'keepalive-warning-timeout'],
    broken: ({ 'keepalive-critical-timeout': critical, 'keepalive-warning-timeout': warning }) =>
      critical !== 0 && critical <= warning
        ? 'if set, --keepalive-critical-timeout must be greater than --keepalive-warning-timeout'
        : undefined,
  },
  {
    flags: ['keepalive-critical-timeout', 'keepalive-interval'],
    broken: ({ 'keepalive-critical-timeout': critical, 'keepalive-interval': interval }) =>
      critical > 0 && critical <= interval
        ? 'keepalive critical timeout must be greater than keepalive interval'
        : undefined,
  },
  {
    flags: ['keepalive-warning-timeout', 'keepalive-interval'],
    broken: ({ 'keepalive-warning-timeout': warning, 'keepalive-interval': interval }) =>
      warning > 0 && warning <= interval
        ? 'keepalive warning timeout must be greater than keepalive interval'
        : undefined,
  },
  { flags: ['name'], broken: ({ name }) => nameError(name) },
  {
    flags: ['keepalive-warning-timeout'],
    broken: ({ 'keepalive-warning-timeout': warning }) =>
      warning < MIN_TIMEOUT_S
        ? `bad keepalive timeout: ${warning} (minimum value is ${MIN_TIMEOUT_S} seconds)`
        : undefined,
  },
  {
    flags: ['keepalive-critical-timeout'],
    broken: ({ 'keepalive-critical-timeout': critical }) =>
      critical !== 0 && critical < MIN_TIMEOUT_S
        ? `bad keepalive critical timeout: ${critical} (minimum value is ${MIN_TIMEOUT_S} seconds)`
        : undefined,
  },
  { flags: ['backend-url'], broken: (values) => urlError(values['backend-url']) },
  {
    flags: ['user'],
    // In Basic credentials the name ends at the first colon.
    broken: ({ user }) => (user.includes(':') ? 'user must not have a colon' : undefined),
  },
  keyPairRule,
  {
    flags: ['allow-list'],
    broken: (values) =>
      values['allow-list'] === ''
        ? undefined
        : 'allow-list is not supported yet: the agent would run every command that a backend requests',
  },
  ...(['namespace', 'user', 'subscriptions'] as const).map((flag) => ({
    flags: [flag],
    broken: (values: Values) =>
      HEADER_TEXT.test(String(values[flag]))
        ? undefined
        : `${flag} cannot contain control characters or letters outside of Latin-1`,
  })),
  ...(['retry-min', 'retry-max'] as const).map((flag) => ({
    flags: [flag],
    broken: (values: Values) => (values[flag] > 0 ? undefined : `${flag} must be above 0`),
  })),
];

/** Drops items that are not pipelines: the backend refuses a whole keepalive that names anything else. */
function pipelineNames(items: readonly string[], warn: (warning: ConfigWarning) => void): string[] {
  return items.flatMap((item) => {
    const [, name] = PIPELINE.exec(item) ?? [];
    if (name !== undefined) return [name];
    const message = 'keepalive pipeline is not of the form core/v2.Pipeline.<name>, left out';
    warn({ message, fields: { pipeline: item } });
    return [];
  });
}

function heartbeatOf(values: Values, warn: (warning: ConfigWarning) => void): AgentConfig['heartbeat'] {
  const intervalS = atLeastOne(values['backend-heartbeat-interval'], DEFAULT_HEARTBEAT_INTERVAL_S);
  const timeoutS = atLeastOne(values['backend-heartbeat-timeout'], DEFAULT_HEARTBEAT_TIMEOUT_S);
  const isLonger = timeoutS > intervalS;
  const usedS = isLonger ? timeoutS : Math.floor((intervalS * 10) / 6);
  if (!isLonger) {
    const message = 'backend heartbeat timeout must be greater than the interval, a longer one is used';
    warn({ message, fields: { interval: intervalS, timeout: timeoutS, used: usedS } });
  }
  return Object.freeze({ intervalMs: intervalS * 1000, timeoutMs: usedS * 1000 });
}

const atLeastOne = (value: number, fallback: number): number => (value < 1 ? fallback : value);

function warnOfLabelKeys(flag: string, labels: TextMap, warn: (warning: ConfigWarning) => void): void {
  for (const key of Object.keys(labels)) {
    if (LABEL_KEY.test(key)) continue;
    warn({ message: 'label key is not of letters, digits and underscores after a letter', fields: { flag, key } });
  }
}

function tlsOf(values: Values, warn: (warning: ConfigWarning) => void): AgentTls {
  const skipsVerification = values['insecure-skip-tls-verify'];
  if (skipsVerification) {
    warn({ message: 'certificates of backends are not verified', fields: { flag: 'insecure-skip-tls-verify' } });
  }
  return Object.freeze({
    ca: fileOf('trusted-ca-file', values),
    pair: keyPairOf({ cert: 'cert-file', key: 'key-file' }, values),
    skipsVerification,
  });
}

function configOf(values: Values, warn: (warning: ConfigWarning) => void): AgentConfig {
  warnOfLabelKeys('labels', values.labels, warn);
  warnOfLabelKeys('keepalive-check-labels', values['keepalive-check-labels'], warn);
  return Object.freeze({
    name: values.name,
    namespace: values.namespace,
    labels: Object.freeze(values.labels),
    annotations: Object.freeze(values.annotations),
    redact: Object.freeze(values.redact),
    subscriptions: Object.freeze(values.subscriptions),
    deregister: values.deregister,
    deregistrationHandler: values['deregistration-handler'],
    isAgentManaged: values['agent-managed-entity'],
    backendUrls: Object.freeze(values['backend-url'].map((text) => withPort(text)?.href ?? text)),
    user: values.user,
    password: values.password,
    tls: tlsOf(values, warn),
    link: Object.freeze({
      handshakeTimeoutMs: atLeastOne(values['backend-handshake-timeout'], DEFAULT_HANDSHAKE_TIMEOUT_S) * 1000,
      retry: Object.freeze({
        minMs: values['retry-min'],
        maxMs: values['retry-max'],
        multiplier: values['retry-multiplier'] || DEFAULT_RETRY_MULTIPLIER,
      }),
      maxSessionMs: values['max-session-length'],
    }),
    heartbeat: heartbeatOf(values, warn),
    keepalive: Object.freeze({
      intervalS: values['keepalive-interval'],
      warningTimeoutS: values['keepalive-warning-timeout'],
      criticalTimeoutS: values['keepalive-critical-timeout'],
      handlers: Object.freeze(values['keepalive-handlers']),
      labels: Object.freeze(values['keepalive-check-labels']),
      annotations: Object.freeze(values['keepalive-check-annotations']),
      pipelines: Object.freeze(pipelineNames(values['keepalive-pipelines'], warn)),
    }),
    maxQueuedEvents: values['events-queue-max'],
    cacheDir: values['cache-dir'],
    logLevel: values['log-level'],
  });
}

/** The flags of `mon-agent start`, without the command itself. @throws ConfigError */
export function parseAgentConfig(sources: Sources, hostname: string): Parsed<AgentConfig> {
  const flags = agentFlags(hostname);
  return parseFlags({ usage: 'mon-agent start', environmentPrefix: 'MON_', flags, rules, build: configOf }, sources);
}
