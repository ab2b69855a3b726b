import { admissionFlags } from './admission-flags.ts';
import { assetFlags } from './asset-flags.ts';
import { backendCompatibilityFlags } from './backend-compatibility-flags.ts';
import { cipherSuiteFlags } from './cipher-suite-flags.ts';
import { featureFlags } from './feature-flags.ts';
import { memoryFlags } from './memory-flags.ts';
import { metricsLogFlags } from './metrics-log-flags.ts';
import { ownEntityFlags } from './own-entity-flags.ts';
import { backendTlsFlags } from './backend-tls.ts';
import { dashboardFlags } from './dashboard-flags.ts';
import { debugFlags } from './debug-flags.ts';
import { earlierApiFlags } from './earlier-api-flags.ts';
import { ignoredEtcdFlags } from './etcd-flags.ts';
import { eventLogFlags } from './event-log-flags.ts';
import { DEFAULT_LOG_LEVEL, type Flag, grouped, kinds } from '../parsing/flags.ts';
import { handlerFlags } from './handler-flags.ts';
import { inspectFlags } from './inspect-flags.ts';
import { addressKind } from '../parsing/listen-address.ts';
import { logFileFlags } from './log-file-flags.ts';
import { printConfigFlags } from '../parsing/effective-settings.ts';
import { retentionFlags } from './retention-flags.ts';
import { sandboxFlags } from './sandbox-flags.ts';
import { notificationFlags } from './notification-flags.ts';
import { secretFlags } from './secret-flags.ts';
import { silenceFlags } from './silence-flags.ts';
import { etcdStoreFlags, storeFlags } from './store-flags.ts';
import { watchFlags } from './watch-flags.ts';
import { controlFlags, stateFlags } from './state-flags.ts';
import { tokenFlags } from './token-flags.ts';

const MAX_PORT = 65_535;
const MAX_LIMIT_BYTES = 2 ** 31 - 1;
const MAX_CONNECTIONS = 1_000_000;
const MAX_TIMEOUT_S = 86_400;
const MAX_AWAKE_ACTORS = 100_000_000;

const port = (fallback: number, about: string): Flag<number> => ({ kind: kinds.integer(0, MAX_PORT), fallback, about });
const host = (about: string): Flag<string> => ({ kind: kinds.text, fallback: '[::]', about });

/** The flags of `mon-backend start`. */
export const startFlags = {
  ...grouped('Files and logs', {
    ...stateFlags,
    ...controlFlags,
    ...printConfigFlags,
    'cache-dir': {
      kind: kinds.text,
      fallback: '/var/cache/mon/mon-backend',
      about: 'directory of unpacked assets',
    },
    'log-level': {
      kind: kinds.logLevel,
      fallback: DEFAULT_LOG_LEVEL,
      about: 'lowest logged level: panic, fatal, error, warn, info, debug or trace',
    },
    ...logFileFlags,
    ...debugFlags,
  }),
  ...grouped('REST API', {
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
      about: 'time after which the API disconnects a client that does not read',
    },
    'api-max-connections': {
      kind: kinds.integer(0, MAX_CONNECTIONS),
      fallback: 0,
      about: 'open connections to the API; 0 derives the number from the limit of open files',
    },
    'api-serve-wait-time': {
      kind: kinds.duration(),
      fallback: 0,
      about: 'time after the start during which the API answers 503',
    },
  }),
  ...grouped('Dashboard', dashboardFlags),
  ...grouped('API of the first generation', earlierApiFlags),
  ...grouped('Agents', {
    'agent-host': host('address for agents'),
    'agent-port': port(8081, 'port for agents'),
    'agent-write-timeout': {
      kind: kinds.integer(1, MAX_TIMEOUT_S),
      fallback: 15,
      about: 'seconds after which the backend disconnects an agent that does not read',
    },
    'agent-max-message-size': {
      kind: kinds.integer(1, MAX_LIMIT_BYTES),
      fallback: 10_485_760,
      about: 'largest message of an agent in bytes',
    },
    ...admissionFlags,
  }),
  ...grouped('TLS', { ...backendTlsFlags, ...cipherSuiteFlags }),
  ...grouped('Logins', tokenFlags),
  ...grouped('Alerts and handlers', {
    'deregistration-handler': {
      kind: kinds.text,
      fallback: '',
      about: 'handler of deregistration events of agents without a handler of their own',
    },
    ...silenceFlags,
    'ledger-anchor-handler': {
      kind: kinds.text,
      fallback: '',
      about: 'handler in namespace mon-system that receives the head of the ledger every hour',
    },
    ...handlerFlags,
    ...sandboxFlags,
    ...secretFlags,
    ...notificationFlags,
  }),
  ...grouped('Assets', assetFlags),
  ...grouped('Event log and metrics log', { ...eventLogFlags, ...metricsLogFlags }),
  ...grouped('Own entity and features', {
    ...ownEntityFlags,
    ...featureFlags,
    'api-url': {
      kind: kinds.text,
      fallback: '',
      about: 'URL of the REST API that the list of cluster members shows, by default the one that a client used',
    },
  }),
  ...grouped('Inspector', inspectFlags),
  ...grouped('Store and memory', {
    ...watchFlags,
    ...retentionFlags,
    ...storeFlags,
    ...memoryFlags,
    'max-awake-actors': {
      kind: kinds.integer(1, MAX_AWAKE_ACTORS),
      fallback: 200_000,
      about: 'state machines in memory, about 2.5 kB each; the others stay in the store only',
    },
  }),
  ...backendCompatibilityFlags,
  ...ignoredEtcdFlags,
  ...grouped('Store and memory', {
    'etcd-name': { kind: kinds.text, fallback: 'default', about: 'name of this backend in GET /health' },
    ...etcdStoreFlags,
  }),
};
