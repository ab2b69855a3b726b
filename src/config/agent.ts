import type { ResourceReference } from '../resources/check.ts';
import { agentDefaults } from './agent-defaults.ts';
import { agentFlags, type AgentFlags } from './flags/agent-flags.ts';
import { agentRules } from './agent-rules.ts';
import { type AssetConfig, assetConfig } from './flags/asset-flags.ts';
import { withPort } from './backend-urls.ts';
import { type InputConfig, inputConfig } from './flags/agent-input-flags.ts';
import type { LogLevel } from './parsing/flag-kinds.ts';
import { type ConfigWarning, type FlagValues, type Parsed, parseFlags, type Sources } from './parsing/flags.ts';
import { type LogFileConfig, logFileConfig } from './flags/log-file-flags.ts';
import { fileOf, type KeyPairFiles, keyPairOf, type NamedFile } from './flags/tls-flags.ts';

const DEFAULT_HANDSHAKE_TIMEOUT_S = 15;
const DEFAULT_HEARTBEAT_INTERVAL_S = 30;
const DEFAULT_HEARTBEAT_TIMEOUT_S = 45;
const DEFAULT_RETRY_MULTIPLIER = 2;

const LABEL_KEY = /^[A-Za-z]\w*$/;
/** A space may replace the dot before the name. */
const PIPELINE = /^([\w-]+\/[\w-]+)\.(\w+)[. ]([\w.:-]+)$/;

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

export interface AgentConfig extends InputConfig, Required<AssetConfig> {
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
    readonly pipelines: readonly ResourceReference[];
  };
  readonly system: {
    readonly detectsCloud: boolean;
    /** Whether the entity lists the network interfaces. */
    readonly showsNetworks: boolean;
  };
  /** The file of the commands that the agent may run; empty for none. */
  readonly allowList: string;
  /** Checks that run at a time; 0 = no limit. */
  readonly maxParallelChecks: number;
  readonly disablesAssets: boolean;
  readonly maxQueuedEvents: number;
  readonly cacheDir: string;
  readonly logLevel: LogLevel;
  /** Standard error when it is absent. */
  readonly logFile?: LogFileConfig | undefined;
}

type Values = FlagValues<AgentFlags>;

/** Drops items that cannot be parsed. */
function pipelinesOf(items: readonly string[], warn: (warning: ConfigWarning) => void): ResourceReference[] {
  return items.flatMap((item) => {
    const [, api_version, type, name] = PIPELINE.exec(item) ?? [];
    if (api_version === undefined || type === undefined || name === undefined) {
      const error = 'resource reference string must be in format api_version.type.name';
      warn({ message: `error parsing keepalive pipeline resource reference: ${item}`, fields: { error } });
      return [];
    }
    if (api_version !== 'core/v2' || type !== 'Pipeline') {
      const message = 'keepalive pipeline is not a core/v2.Pipeline, backends may refuse the keepalives';
      warn({ message, fields: { pipeline: item } });
    }
    return [{ name, type, api_version }];
  });
}

function heartbeatOf(values: Values, warn: (warning: ConfigWarning) => void): AgentConfig['heartbeat'] {
  const intervalS = atLeastOne(values['backend-heartbeat-interval'], DEFAULT_HEARTBEAT_INTERVAL_S);
  const timeoutS = atLeastOne(values['backend-heartbeat-timeout'], DEFAULT_HEARTBEAT_TIMEOUT_S);
  const isLonger = timeoutS > intervalS;
  const usedS = isLonger ? timeoutS : Math.floor((intervalS * 10) / 6);
  if (!isLonger) {
    const message =
      `the heartbeat timeout (${timeoutS}) must be bigger than the heartbeat interval (${intervalS}), ` +
      'increasing the timeout';
    warn({ message, fields: { used: usedS } });
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
      pipelines: Object.freeze(pipelinesOf(values['keepalive-pipelines'], warn)),
    }),
    allowList: values['allow-list'],
    maxParallelChecks: values['max-parallel-checks'],
    disablesAssets: values['disable-assets'],
    ...assetConfig(values),
    ...inputConfig(values),
    system: Object.freeze({
      detectsCloud: values['detect-cloud-provider'],
      showsNetworks: !values['strip-networks'],
    }),
    maxQueuedEvents: values['events-queue-max'],
    cacheDir: values['cache-dir'],
    logLevel: values['log-level'],
    logFile: logFileConfig(values),
  });
}

/** Where the agent runs. */
export interface AgentSurroundings {
  hostname: string;
  /** The platform as Node.js names it. */
  platform: string;
  /** Whether the agent runs as a service, which has a log file by default. */
  isService: boolean;
}

/** The flags of `mon-agent start`, without the command itself. @throws ConfigError */
export function parseAgentConfig(
  sources: Sources,
  { hostname, platform, isService }: AgentSurroundings,
): Parsed<AgentConfig> {
  const { serviceLogFile, ...paths } = agentDefaults(platform, sources.env);
  const flags = agentFlags({ hostname, ...paths, logFile: isService ? serviceLogFile : '' });
  return parseFlags(
    { usage: 'mon-agent start', environmentPrefix: 'MON_', flags, rules: agentRules, build: configOf },
    sources,
  );
}
