import { InvalidResource } from '../resources/errors.ts';
import { assertName } from '../resources/names.ts';
import { type Flag, kinds, type LogLevel, type Parsed, parseFlags, type Sources } from './flags.ts';

const DEFAULT_BACKEND_PORT = '8081';
const MAX_UINT32 = 2 ** 32 - 1;
const MIN_TIMEOUT_S = 5;

/** What headers can carry: no control characters, nothing beyond one byte. */
const HEADER_TEXT = /^[\x20-\x7e\xa0-\xff]*$/;

export interface AgentConfig {
  readonly name: string;
  readonly namespace: string;
  /** At least one; `ws` or `wss`, with a port. */
  readonly backendUrls: readonly string[];
  readonly subscriptions: readonly string[];
  readonly user: string;
  readonly password: string;
  readonly keepalive: {
    readonly intervalS: number;
    readonly warningTimeoutS: number;
    /** 0 = none. */
    readonly criticalTimeoutS: number;
  };
  readonly cacheDir: string;
  readonly logLevel: LogLevel;
}

const seconds = (min: number, fallback: number, about: string): Flag<number> => ({
  kind: kinds.integer(min, MAX_UINT32),
  fallback,
  about,
});

const flagsFor = (hostname: string) => ({
  name: { kind: kinds.text, fallback: hostname, about: 'name of the entity' },
  namespace: { kind: kinds.text, fallback: 'default', about: 'namespace of the entity' },
  'backend-url': {
    kind: kinds.list,
    fallback: ['ws://127.0.0.1:8081'],
    about: 'backends to try in turn, ws:// or wss://, port 8081 unless given',
  },
  subscriptions: { kind: kinds.list, fallback: [] as string[], about: 'whose checks this agent runs' },
  user: { kind: kinds.text, fallback: 'agent', about: 'user at the backend' },
  password: { kind: kinds.text, fallback: 'P@ssw0rd!', secret: true, about: 'password at the backend' },
  'keepalive-interval': {
    ...seconds(1, 20, 'seconds between keepalives'),
    // The documented name of the variable is misspelt; people have it in their files.
    alsoEnvironment: ['KEEPALIVE_INTERNAL'],
  },
  'keepalive-warning-timeout': seconds(0, 120, 'seconds without a keepalive until a warning'),
  'keepalive-critical-timeout': seconds(0, 0, 'seconds without a keepalive until a critical alert, 0 for none'),
  'cache-dir': { kind: kinds.text, fallback: '/var/cache/mon/mon-agent', about: 'where assets and the queue are kept' },
  'log-level': { kind: kinds.logLevel, fallback: 'warn' as LogLevel, about: 'panic fatal error warn info debug trace' },
  'config-file': {
    kind: kinds.text,
    fallback: '/etc/mon/agent.yml',
    short: 'c',
    about: 'YAML file with these flags',
  },
});

/** The port is added only where the text has none: the default port of the scheme must stay when it is written. */
function withPort(text: string): URL | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (!/^[^:]+:\/\/[^/?#]*:\d+(?=[/?#]|$)/.test(text)) url.port = DEFAULT_BACKEND_PORT;
  return url;
}

function urlFault(urls: readonly string[]): string | undefined {
  if (urls.length === 0) return 'no backend URLs defined';
  const faults = urls.map((text) => {
    const url = withPort(text);
    if (url === undefined) return `backend URL (${text}) is not a valid URL`;
    if (url.protocol === 'ws:' || url.protocol === 'wss:') return undefined;
    return `backend URL (${url.href.replace(/\/$/, '')}) must have ws:// or wss:// scheme`;
  });
  return faults.find((fault) => fault !== undefined);
}

function nameFault(name: string): string | undefined {
  try {
    assertName(name, 'invalid agent name:');
    return undefined;
  } catch (error) {
    if (error instanceof InvalidResource) return error.message;
    throw error;
  }
}

/** The flags of `mon-agent start`, without the command itself; the entity is called `hostname` by default. @throws ConfigError */
export function parseAgentConfig(sources: Sources, hostname: string): Parsed<AgentConfig> {
  return parseFlags(
    {
      usage: 'mon-agent start',
      environmentPrefix: 'MON_',
      flags: flagsFor(hostname),
      rules: [
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
        { flags: ['name'], broken: ({ name }) => nameFault(name) },
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
        { flags: ['backend-url'], broken: (values) => urlFault(values['backend-url']) },
        ...(['namespace', 'user', 'subscriptions'] as const).map((flag) => ({
          flags: [flag],
          broken: (values: Record<typeof flag, string | string[]>) =>
            HEADER_TEXT.test(String(values[flag]))
              ? undefined
              : `${flag} cannot contain control characters or letters outside of Latin-1`,
        })),
      ],
      build: (values): AgentConfig =>
        Object.freeze({
          name: values.name,
          namespace: values.namespace,
          backendUrls: Object.freeze(values['backend-url'].map((text) => withPort(text)?.href ?? text)),
          subscriptions: Object.freeze(values.subscriptions),
          user: values.user,
          password: values.password,
          keepalive: Object.freeze({
            intervalS: values['keepalive-interval'],
            warningTimeoutS: values['keepalive-warning-timeout'],
            criticalTimeoutS: values['keepalive-critical-timeout'],
          }),
          cacheDir: values['cache-dir'],
          logLevel: values['log-level'],
        }),
    },
    sources,
  );
}
