import { agentCompatibilityFlags } from './agent-compatibility-flags.ts';
import { agentInputFlags } from './agent-input-flags.ts';
import { assetFlags } from './asset-flags.ts';
import { DEFAULT_LOG_LEVEL, type Flag, grouped, kinds } from '../parsing/flags.ts';
import { logFileFlags } from './log-file-flags.ts';
import { printConfigFlags } from '../parsing/effective-settings.ts';
import { pemFile } from './tls-flags.ts';

const MAX_UINT32 = 2 ** 32 - 1;
const MAX_INT32 = 2 ** 31 - 1;
const MAX_PARALLEL_CHECKS = 10_000;

const text = (fallback: string, about: string): Flag<string> => ({ kind: kinds.text, fallback, about });
const flag = (about: string): Flag<boolean> => ({ kind: kinds.boolean, fallback: false, about });
const list = (fallback: readonly string[], about: string): Flag<string[]> => ({
  kind: kinds.list,
  fallback: [...fallback],
  about,
});
const map = (about: string): Flag<Record<string, string>> => ({
  kind: kinds.mapWithLowerCaseFileKeys,
  fallback: {},
  about,
});
const seconds = (min: number, fallback: number, about: string): Flag<number> => ({
  kind: kinds.integer(min, MAX_UINT32),
  fallback,
  about,
});
/** A value below 1 means the default; the reference accepts negative ones too. */
const secondsOrDefault = (fallback: number, about: string): Flag<number> => ({
  kind: kinds.integer(
    -MAX_INT32,
    MAX_INT32,
    `must be a whole number of seconds from 1 to ${MAX_INT32}, or 0 for the default`,
  ),
  fallback,
  about: `${about}, below 1 for the default`,
});
const duration = (fallbackMs: number, about: string): Flag<number> => ({
  kind: kinds.duration(),
  fallback: fallbackMs,
  about,
});

/** The defaults that depend on the machine and on the command. */
export interface FlagDefaults {
  /** The name of the entity. */
  hostname: string;
  configFile: string;
  cacheDir: string;
  /** Empty for standard error. */
  logFile: string;
}

/** The flags of `mon-agent start`. */
export const agentFlags = ({ hostname, configFile, cacheDir, logFile }: FlagDefaults) => ({
  ...grouped('Entity', {
    name: { ...text(hostname, 'name of the entity'), formerName: 'id' },
    namespace: text('default', 'namespace of the entity'),
    labels: map('labels of the entity'),
    annotations: map('annotations of the entity'),
    redact: list([], 'labels and annotations whose values are hidden, by default those of passwords and keys'),
    subscriptions: list([], 'subscriptions whose checks this agent runs'),
    deregister: flag('remove the entity when the agent stops'),
    'deregistration-handler': text('', 'handler that is notified when the entity is removed'),
    'detect-cloud-provider': flag('add the cloud provider of the machine to the entity: EC2, Azure or GCP'),
    'strip-networks': flag('leave the network interfaces out of the entity'),
    'agent-managed-entity': flag('use the configuration of the agent, not the one that the backend has stored'),
  }),
  ...grouped('Connection', {
    'backend-url': list(
      ['ws://127.0.0.1:8081'],
      'URLs of backends, tried in order, ws:// or wss://, port 8081 by default',
    ),
    user: text('agent', 'user name at the backend'),
    password: { ...text('P@ssw0rd!', 'password at the backend'), secret: true },
    'trusted-ca-file': pemFile('certificate authorities of backends, PEM, by default those of the system'),
    'insecure-skip-tls-verify': flag('accept any certificate of a backend, for development only'),
    'cert-file': pemFile('certificate that replaces user and password, PEM, leaf first'),
    'key-file': pemFile('key of the certificate, PEM, readable by its owner only'),
    'backend-handshake-timeout': secondsOrDefault(15, 'seconds until an unanswered handshake fails'),
    'backend-heartbeat-interval': secondsOrDefault(30, 'seconds between pings'),
    'backend-heartbeat-timeout': secondsOrDefault(45, 'seconds without a pong until the connection is closed'),
    'retry-min': duration(1_000, 'first delay before the agent reconnects'),
    'retry-max': duration(120_000, 'longest delay before the agent reconnects'),
    'retry-multiplier': {
      kind: kinds.decimal(0),
      fallback: 2,
      about: 'factor by which the delay grows, 0 for the default',
    },
    'max-session-length': duration(0, 'longest duration of a connection, 0 for no limit'),
  }),
  ...grouped('Keepalives', {
    'keepalive-interval': {
      ...seconds(1, 20, 'seconds between keepalives'),
      // The documented name of the variable is misspelt, and users have it in their files.
      otherVariables: ['KEEPALIVE_INTERNAL'],
    },
    'keepalive-warning-timeout': {
      ...seconds(0, 120, 'seconds without a keepalive until a warning'),
      formerName: 'keepalive-timeout',
    },
    'keepalive-critical-timeout': seconds(0, 0, 'seconds without a keepalive until a critical alert, 0 for none'),
    'keepalive-handlers': list(['keepalive'], 'handlers of keepalive events'),
    'keepalive-check-labels': map('labels of keepalive events'),
    'keepalive-check-annotations': map('annotations of keepalive events'),
    'keepalive-pipelines': list([], 'pipelines of keepalive events, for example core/v2.Pipeline.ops'),
  }),
  ...grouped('Checks', {
    'allow-list': text('', 'file of the commands that the agent may run, YAML or JSON, by default all'),
    'max-parallel-checks': {
      kind: kinds.integer(0, MAX_PARALLEL_CHECKS),
      fallback: 0,
      about: 'checks that run at the same time; the others wait; 0 for no limit',
    },
    'disable-assets': flag('refuse checks and hooks that need assets'),
    ...assetFlags,
  }),
  ...agentInputFlags,
  ...grouped('Files and logs', {
    'events-queue-max': {
      kind: kinds.integer(1, MAX_INT32),
      fallback: 100_000,
      about: 'events that the queue on disk holds while no backend is connected',
    },
    'cache-dir': text(cacheDir, 'directory of assets and the queue, /dev/null for memory'),
    'log-level': {
      kind: kinds.logLevel,
      fallback: DEFAULT_LOG_LEVEL,
      about: 'lowest logged level: panic, fatal, error, warn, info, debug or trace',
    },
    ...logFileFlags,
    'log-file': { ...logFileFlags['log-file'], fallback: logFile },
    'config-file': { ...text(configFile, 'YAML file with these flags'), short: 'c' },
    ...printConfigFlags,
  }),
  ...agentCompatibilityFlags,
});

export type AgentFlags = ReturnType<typeof agentFlags>;
