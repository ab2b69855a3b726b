import { type AdmissionConfig, admissionConfig } from './admission-flags.ts';
import { type AssetConfig, assetConfig } from './asset-flags.ts';
import { dashboardPairRule } from './backend-compatibility-flags.ts';
import { type BackendTls, backendTlsOf, backendTlsRules } from './backend-tls.ts';
import { BACKEND_FILE_KEYS } from './command-flags.ts';
import { etcdRules } from './etcd-flags.ts';
import { type EventLogConfig, eventLogConfig } from './event-log-flags.ts';
import { type LogLevel, type Parsed, parseFlags, type Sources } from './flags.ts';
import { type HandlerConfig, handlerConfig } from './handler-flags.ts';
import { type InspectConfig, inspectConfig, inspectRelayRule } from './inspect-flags.ts';
import { type SandboxConfig, sandboxConfig } from './sandbox-flags.ts';
import { type NotificationConfig, notificationConfig, notificationRule } from './notification-flags.ts';
import { type SecretConfig, secretConfig, secretRule } from './secret-flags.ts';
import { type SilenceConfig, silenceConfig, silenceRule } from './silence-flags.ts';
import { type ListenAddress, startFlags, withoutBrackets } from './start-flags.ts';
import { ENVIRONMENT_PREFIX, stateDirRule } from './state-flags.ts';
import { type TokenConfig, tokenConfig, tokenRules } from './token-flags.ts';
import { type WatchConfig, watchConfig, watchRule } from './watch-flags.ts';

export type { ListenAddress } from './start-flags.ts';

export interface BackendConfig
  extends
    InspectConfig,
    AdmissionConfig,
    AssetConfig,
    EventLogConfig,
    HandlerConfig,
    NotificationConfig,
    SandboxConfig,
    SecretConfig,
    SilenceConfig,
    TokenConfig,
    WatchConfig {
  readonly stateDir: string;
  readonly cacheDir: string;
  readonly logLevel: LogLevel;
  readonly api: ListenAddress & {
    readonly requestLimitBytes: number;
    readonly writeTimeoutMs: number;
    /** Connections at a time; by default they follow from the limit of open files. */
    readonly maxConnections?: number | undefined;
    /** How long requests are refused after the start; not at all by default. */
    readonly serveWaitMs?: number;
  };
  readonly agent: ListenAddress & { readonly writeTimeoutMs: number; readonly maxMessageBytes: number };
  readonly dashboard: ListenAddress;
  /** Clear text by default. */
  readonly tls?: BackendTls;
  /** The deregistration handler of agents that name none. */
  readonly deregistrationHandler?: string | undefined;
  /** The handler that receives the head of the ledger every hour. The log has it in any case. */
  readonly ledgerAnchorHandler?: string | undefined;
  /** State machines in memory; the bound of the actor system by default. */
  readonly maxAwakeActors?: number;
  /** With `full`, acknowledged data survives a power cut. */
  readonly storeSync: 'full' | 'none';
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
        ...backendTlsRules,
        ...tokenRules,
        ...etcdRules,
        dashboardPairRule,
        silenceRule,
        secretRule,
        watchRule,
        notificationRule,
        {
          flags: ['api-write-timeout'],
          broken: (values) => (values['api-write-timeout'] > 0 ? undefined : 'api-write-timeout must be above 0'),
        },
        inspectRelayRule,
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
            maxConnections: values['api-max-connections'] || undefined,
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
          maxAwakeActors: values['max-awake-actors'],
          ledgerAnchorHandler: values['ledger-anchor-handler'] || undefined,
          ...handlerConfig(values),
          ...silenceConfig(values),
          ...sandboxConfig(values),
          ...secretConfig(values),
          ...watchConfig(values),
          ...notificationConfig(values),
          ...tokenConfig(values),
          ...assetConfig(values),
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
