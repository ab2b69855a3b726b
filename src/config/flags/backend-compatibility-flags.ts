import { kinds, withoutEffect } from '../parsing/flags.ts';

const MAX_COUNT = Number.MAX_SAFE_INTEGER;
const count = kinds.integer(0, MAX_COUNT);

/** Flags of the reference that `mon-backend start` accepts, validates and ignores. */
export const backendCompatibilityFlags = {
  ...withoutEffect('mon bounds its queues itself, as docs/operate.md describes', {
    'eventd-workers': count,
    'eventd-buffer-size': count,
    'keepalived-workers': count,
    'keepalived-buffer-size': count,
    'pipelined-buffer-size': count,
  }),
  ...withoutEffect('GET /metrics always has the current values', { 'metrics-refresh-interval': kinds.duration() }),
  ...withoutEffect('the backend never waits for the event log', { 'event-log-buffer-wait': kinds.duration() }),
  ...withoutEffect('one encoder is fast enough', { 'event-log-parallel-encoders': kinds.boolean }),
  ...withoutEffect('the log always has milliseconds', { 'log-millisecond-timestamps': kinds.boolean }),
  ...withoutEffect('mon uses the cryptography of Node.js', {
    'require-fips': kinds.boolean,
    'require-openssl': kinds.boolean,
  }),
};
