import { type FlagValues, kinds, type Rule, withoutEffect } from './flags.ts';

const MAX_COUNT = Number.MAX_SAFE_INTEGER;
const count = kinds.integer(0, MAX_COUNT);

const PAIR = ['dashboard-cert-file', 'dashboard-key-file'] as const;

/** Flags of the reference that `mon-backend start` accepts, validates and ignores. */
export const backendCompatibilityFlags = {
  ...withoutEffect('there is no dashboard yet', {
    'api-url': kinds.text,
    'dashboard-cert-file': kinds.text,
    'dashboard-key-file': kinds.text,
    'dashboard-write-timeout': kinds.duration(),
  }),
  ...withoutEffect('the own entity of the backend has no labels and annotations yet', {
    labels: kinds.map,
    annotations: kinds.map,
  }),
  ...withoutEffect('mon bounds its queues itself, as docs/operate.md describes', {
    'eventd-workers': count,
    'eventd-buffer-size': count,
    'keepalived-workers': count,
    'keepalived-buffer-size': count,
    'pipelined-workers': count,
    'pipelined-buffer-size': count,
  }),
  ...withoutEffect('mon writes no log of metrics, GET /metrics has them', {
    'disable-platform-metrics': kinds.boolean,
    'platform-metrics-logging-interval': kinds.duration(),
    'platform-metrics-log-file': kinds.text,
  }),
  ...withoutEffect('GET /metrics always has the current values', { 'metrics-refresh-interval': kinds.duration() }),
  ...withoutEffect('the backend never waits for the event log', { 'event-log-buffer-wait': kinds.duration() }),
  ...withoutEffect('one encoder is fast enough', { 'event-log-parallel-encoders': kinds.boolean }),
  ...withoutEffect('bursts are as large as --agent-rate-limit', { 'agent-burst-limit': count }),
  ...withoutEffect('the log always has milliseconds', { 'log-millisecond-timestamps': kinds.boolean }),
  ...withoutEffect('there are no profiling endpoints, GET /metrics has the use of memory and CPU time', {
    debug: kinds.boolean,
  }),
  ...withoutEffect('mon uses the cryptography of Node.js', {
    'require-fips': kinds.boolean,
    'require-openssl': kinds.boolean,
  }),
};

/** Refuses a certificate of the dashboard without its key, and a key without its certificate, as the reference does. */
export const dashboardPairRule: Rule<typeof backendCompatibilityFlags> = {
  flags: PAIR,
  broken: (values: FlagValues<typeof backendCompatibilityFlags>) =>
    PAIR.filter((flag) => values[flag]).length === 1
      ? 'dashboard tls configuration error, both flags --dashboard-cert-file and --dashboard-key-file are required'
      : undefined,
};
