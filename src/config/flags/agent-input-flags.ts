import { type Flag, type FlagValues, grouped, kinds } from '../parsing/flags.ts';

const MAX_PORT = 65_535;
const MAX_COUNT = 1_000_000;
const LOOPBACK = '127.0.0.1';
const DEFAULT_FLUSH_INTERVAL_S = 10;
const MAX_FLUSH_INTERVAL_S = 86_400;

/** How local clients send events to the agent. */
export interface InputConfig {
  readonly api: { readonly isEnabled: boolean; readonly host: string; readonly port: number };
  /** The TCP and UDP sockets. */
  readonly sockets: { readonly isEnabled: boolean; readonly host: string; readonly port: number };
  readonly statsd: {
    readonly isEnabled: boolean;
    readonly host: string;
    readonly port: number;
    readonly flushIntervalS: number;
    readonly handlers: readonly string[];
  };
  /** How fast posted events are sent to the backend. */
  readonly relay: {
    /** Events per second; 0 = no limit. */
    readonly ratePerS: number;
    /** Events at once. */
    readonly burst: number;
  };
}

const host = (about: string): Flag<string> => ({ kind: kinds.text, fallback: LOOPBACK, about });
const port = (fallback: number, about: string): Flag<number> => ({ kind: kinds.integer(0, MAX_PORT), fallback, about });
const flag = (about: string): Flag<boolean> => ({ kind: kinds.boolean, fallback: false, about });

/** The flags of the HTTP API, the sockets and the StatsD listener of the agent. */
export const agentInputFlags = {
  ...grouped('Local inputs', {
    'api-host': host('address of the HTTP API'),
    'api-port': port(3031, 'port of the HTTP API'),
    'disable-api': flag('do not serve the HTTP API'),
    'events-rate-limit': {
      kind: kinds.decimal(0),
      fallback: 10,
      about: 'events of the HTTP API that are sent to the backend per second, 0 for no limit',
    } satisfies Flag<number>,
    'events-burst-limit': {
      kind: kinds.integer(0, MAX_COUNT),
      fallback: 10,
      about: 'events of the HTTP API that are sent to the backend at once',
    } satisfies Flag<number>,
    'socket-host': host('address of the TCP and UDP sockets'),
    'socket-port': port(3030, 'port of the TCP and UDP sockets'),
    'disable-sockets': flag('do not open the sockets'),
    'statsd-metrics-host': host('address of the StatsD listener'),
    'statsd-metrics-port': port(8125, 'port of the StatsD listener'),
    'statsd-flush-interval': {
      kind: kinds.integer(0, MAX_FLUSH_INTERVAL_S),
      fallback: DEFAULT_FLUSH_INTERVAL_S,
      about: 'seconds between two events with StatsD metrics, 0 for the default',
    } satisfies Flag<number>,
    'statsd-event-handlers': {
      kind: kinds.list,
      fallback: [],
      about: 'handlers of StatsD metrics',
    } satisfies Flag<string[]>,
    'statsd-disable': flag('do not receive StatsD metrics'),
  }),
};

export const inputConfig = (values: FlagValues<typeof agentInputFlags>): InputConfig => ({
  api: Object.freeze({ isEnabled: !values['disable-api'], host: values['api-host'], port: values['api-port'] }),
  sockets: Object.freeze({
    isEnabled: !values['disable-sockets'],
    host: values['socket-host'],
    port: values['socket-port'],
  }),
  statsd: Object.freeze({
    isEnabled: !values['statsd-disable'],
    host: values['statsd-metrics-host'],
    port: values['statsd-metrics-port'],
    flushIntervalS: values['statsd-flush-interval'] || DEFAULT_FLUSH_INTERVAL_S,
    handlers: Object.freeze(values['statsd-event-handlers']),
  }),
  relay: Object.freeze({ ratePerS: values['events-rate-limit'], burst: values['events-burst-limit'] }),
});
