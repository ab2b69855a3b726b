import { kinds, withoutEffect } from './flags.ts';

const MAX_PORT = 65_535;
const MAX_COUNT = Number.MAX_SAFE_INTEGER;
const count = kinds.integer(0, MAX_COUNT);
const port = kinds.integer(0, MAX_PORT);

/** Flags of the reference that `mon-agent start` accepts, validates and ignores. */
export const agentCompatibilityFlags = {
  ...withoutEffect('the agent has no HTTP API yet', {
    'api-host': kinds.text,
    'api-port': port,
    'disable-api': kinds.boolean,
    'events-burst-limit': count,
    'events-rate-limit': kinds.decimal(0),
  }),
  ...withoutEffect('the agent opens no sockets yet', {
    'disable-sockets': kinds.boolean,
    'socket-host': kinds.text,
    'socket-port': port,
  }),
  ...withoutEffect('the agent has no StatsD listener yet', {
    'statsd-disable': kinds.boolean,
    'statsd-event-handlers': kinds.list,
    'statsd-flush-interval': count,
    'statsd-metrics-host': kinds.text,
    'statsd-metrics-port': port,
  }),
  ...withoutEffect('the agent downloads no assets yet', {
    'assets-burst-limit': count,
    'assets-rate-limit': kinds.decimal(0),
    'disable-assets': kinds.boolean,
  }),
  ...withoutEffect('the entity of the agent has no such details yet', {
    'detect-cloud-provider': kinds.boolean,
    'discover-processes': kinds.boolean,
  }),
  ...withoutEffect('the entity of the agent always has its network interfaces', { 'strip-networks': kinds.boolean }),
  ...withoutEffect('mon uses the cryptography of Node.js', {
    'require-fips': kinds.boolean,
    'require-openssl': kinds.boolean,
  }),
  ...withoutEffect('the agent logs to standard error, not to a file', {
    'log-file': kinds.text,
    'log-max-size': kinds.text,
    'log-retention-duration': kinds.duration(),
    'log-retention-files': count,
    'log-reaper-interval': kinds.duration(),
  }),
};
