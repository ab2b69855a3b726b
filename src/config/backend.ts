import { type AdmissionConfig, admissionConfig } from './flags/admission-flags.ts';
import { type AssetConfig, assetConfig } from './flags/asset-flags.ts';
import { type BackendTls, backendTlsOf, backendTlsRules } from './flags/backend-tls.ts';
import { BACKEND_FILE_KEYS } from './flags/command-flags.ts';
import { type DashboardConfig, dashboardConfig, dashboardRules } from './flags/dashboard-flags.ts';
import { type DebugConfig, debugConfig } from './flags/debug-flags.ts';
import { type EarlierApiConfig, earlierApiConfig, earlierApiRules } from './flags/earlier-api-flags.ts';
import { etcdRules } from './flags/etcd-flags.ts';
import { type EventLogConfig, eventLogConfig } from './flags/event-log-flags.ts';
import { type LogLevel, type Parsed, parseFlags, type Sources } from './parsing/flags.ts';
import { cipherSuitesOf } from './flags/cipher-suite-flags.ts';
import { type FeatureConfig, featureConfig, withoutDisabled } from './flags/feature-flags.ts';
import { type MemoryConfig, memoryConfig, memoryRule } from './flags/memory-flags.ts';
import { type MetricsLogConfig, metricsLogConfig, metricsLogRule } from './flags/metrics-log-flags.ts';
import { type OwnEntityConfig, ownEntityConfig } from './flags/own-entity-flags.ts';
import { type HandlerConfig, handlerConfig } from './flags/handler-flags.ts';
import { type InspectConfig, inspectConfig, inspectRelayRule } from './flags/inspect-flags.ts';
import { type ListenAddress, withoutBrackets } from './parsing/listen-address.ts';
import { type LogFileConfig, logFileConfig, logFileRule } from './flags/log-file-flags.ts';
import { handlerNameRule } from './flags/name-rules.ts';
import { type SandboxConfig, sandboxConfig } from './flags/sandbox-flags.ts';
import { type NotificationConfig, notificationConfig, notificationRule } from './flags/notification-flags.ts';
import { type RetentionConfig, retentionConfig, retentionRules } from './flags/retention-flags.ts';
import { type SecretConfig, secretConfig, secretRule } from './flags/secret-flags.ts';
import { type SilenceConfig, silenceConfig, silenceRule } from './flags/silence-flags.ts';
import { startFlags } from './flags/start-flags.ts';
import { controlSocketOf, ENVIRONMENT_PREFIX, stateDirRule } from './flags/state-flags.ts';
import { etcdQuota, type StoreConfig, storeConfig } from './flags/store-flags.ts';
import { type TokenConfig, tokenConfig, tokenRules } from './flags/token-flags.ts';
import { type WatchConfig, watchConfig, watchRule } from './flags/watch-flags.ts';

export type { ListenAddress } from './parsing/listen-address.ts';

export interface BackendConfig
  extends
    InspectConfig,
    AdmissionConfig,
    AssetConfig,
    DebugConfig,
    EventLogConfig,
    FeatureConfig,
    MemoryConfig,
    MetricsLogConfig,
    OwnEntityConfig,
    HandlerConfig,
    NotificationConfig,
    RetentionConfig,
    SandboxConfig,
    SecretConfig,
    SilenceConfig,
    StoreConfig,
    TokenConfig,
    WatchConfig {
  readonly stateDir: string;
  /** Undefined for the one in the state directory. */
  readonly controlSocket?: string | undefined;
  /** Whether the state directory is the default. */
  readonly hasDefaultStateDir?: boolean;
  readonly cacheDir: string;
  readonly logLevel: LogLevel;
  /** Standard error when it is absent. */
  readonly logFile?: LogFileConfig | undefined;
  readonly api: ListenAddress & {
    readonly requestLimitBytes: number;
    readonly writeTimeoutMs: number;
    /** Connections at a time; by default they follow from the limit of open files. */
    readonly maxConnections?: number | undefined;
    /** How long requests are refused after the start; not at all by default. */
    readonly serveWaitMs?: number;
  };
  readonly agent: ListenAddress & { readonly writeTimeoutMs: number; readonly maxMessageBytes: number };
  readonly dashboard: DashboardConfig;
  /** Absent when that API is off. */
  readonly earlierApi?: EarlierApiConfig;
  /** Clear text by default. */
  readonly tls?: BackendTls;
  /** The deregistration handler of agents that name none. */
  readonly deregistrationHandler?: string | undefined;
  /** The handler that receives the head of the ledger every hour. The log has it in any case. */
  readonly ledgerAnchorHandler?: string | undefined;
  /** State machines in memory; the bound of the actor system by default. */
  readonly maxAwakeActors?: number;
  /** The name of this backend in `/health`; `default` by default. */
  readonly memberName?: string;
  /** Where clients reach the API; by default the address that they used. */
  readonly apiUrl?: string | undefined;
}

/** The flags of `mon-backend start`, without the command itself. @throws ConfigError */
export function parseBackendConfig(sources: Sources): Parsed<BackendConfig> {
  return parseFlags<typeof startFlags, BackendConfig>(
    {
      usage: 'mon-backend start',
      environmentPrefix: ENVIRONMENT_PREFIX,
      flags: startFlags,
      keysOfOthers: BACKEND_FILE_KEYS,
      rules: [
        stateDirRule,
        logFileRule,
        metricsLogRule,
        ...backendTlsRules,
        ...tokenRules,
        ...etcdRules,
        ...dashboardRules,
        silenceRule,
        secretRule,
        watchRule,
        notificationRule,
        handlerNameRule('deregistration-handler'),
        handlerNameRule('ledger-anchor-handler'),
        memoryRule,
        ...retentionRules,
        {
          flags: ['api-write-timeout'],
          broken: (values) => (values['api-write-timeout'] > 0 ? undefined : 'api-write-timeout must be above 0'),
        },
        ...earlierApiRules,
        inspectRelayRule,
      ],
      build(values, warn, isGiven): BackendConfig {
        const store = storeConfig(values, warn, isGiven);
        return Object.freeze({
          stateDir: values['state-dir'],
          controlSocket: controlSocketOf(values),
          hasDefaultStateDir: !isGiven('state-dir'),
          cacheDir: values['cache-dir'],
          logLevel: values['log-level'],
          logFile: logFileConfig(values),
          api: Object.freeze({
            ...values['api-listen-address'],
            requestLimitBytes: values['api-request-limit'],
            writeTimeoutMs: values['api-write-timeout'],
            maxConnections: values['api-max-connections'] || undefined,
            serveWaitMs: values['api-serve-wait-time'],
          }),
          agent: Object.freeze({
            host: withoutBrackets(values['agent-host']),
            port: values['agent-port'],
            writeTimeoutMs: values['agent-write-timeout'] * 1000,
            maxMessageBytes: values['agent-max-message-size'],
          }),
          dashboard: dashboardConfig(values),
          tls: backendTlsOf(values, cipherSuitesOf(values, warn), warn),
          deregistrationHandler: values['deregistration-handler'] || undefined,
          maxAwakeActors: values['max-awake-actors'],
          ledgerAnchorHandler: values['ledger-anchor-handler'] || undefined,
          memberName: values['etcd-name'],
          apiUrl: values['api-url'] || undefined,
          ...withoutDisabled(earlierApiConfig(values), values),
          ...featureConfig(values),
          ...memoryConfig(values),
          ...metricsLogConfig(values),
          ...ownEntityConfig(values),
          ...handlerConfig(values),
          ...silenceConfig(values),
          ...sandboxConfig(values),
          ...secretConfig(values),
          ...watchConfig(values),
          ...notificationConfig(values),
          ...retentionConfig(values),
          ...tokenConfig(values),
          ...assetConfig(values),
          ...admissionConfig(values),
          ...eventLogConfig(values),
          ...inspectConfig(values),
          ...debugConfig(values, warn),
          ...etcdQuota(values, isGiven),
          ...store,
        });
      },
    },
    sources,
  );
}
