import { type Flag, type FlagValues, kinds, type Rule } from '../parsing/flags.ts';
import { type ListenAddress, withoutBrackets } from '../parsing/listen-address.ts';
import { type KeyPairFiles, keyPairOf, pemFile } from './tls-flags.ts';

/** The listener of the dashboard. */
export interface DashboardConfig extends ListenAddress {
  readonly writeTimeoutMs: number;
  /** The certificate of this listener; that of the API by default. */
  readonly pair?: KeyPairFiles | undefined;
}

const MAX_PORT = 65_535;
const PAIR = ['dashboard-cert-file', 'dashboard-key-file'] as const;

export const dashboardFlags = {
  'dashboard-host': {
    kind: kinds.text,
    fallback: '[::]',
    about: 'address of the dashboard, which also serves the REST API and an API of the first generation',
  } satisfies Flag<string> as Flag<string>,
  'dashboard-port': { kind: kinds.integer(0, MAX_PORT), fallback: 3000, about: 'port of the dashboard' },
  'dashboard-cert-file': pemFile('certificate of the dashboard, PEM, leaf first, by default that of the API'),
  'dashboard-key-file': pemFile('key of the certificate of the dashboard, PEM, readable by its owner only'),
  'dashboard-write-timeout': {
    kind: kinds.duration(),
    fallback: 15_000,
    about: 'time after which the dashboard disconnects a client that does not read',
  },
};

type Values = FlagValues<typeof dashboardFlags>;

export const dashboardRules: readonly Rule<typeof dashboardFlags>[] = [
  {
    flags: PAIR,
    broken: (values: Values) =>
      PAIR.filter((flag) => values[flag]).length === 1
        ? 'dashboard tls configuration error, both flags --dashboard-cert-file and --dashboard-key-file are required'
        : undefined,
  },
  {
    flags: ['dashboard-write-timeout'],
    broken: (values: Values) =>
      values['dashboard-write-timeout'] > 0 ? undefined : 'dashboard-write-timeout must be above 0',
  },
];

export const dashboardConfig = (values: Values): DashboardConfig =>
  Object.freeze({
    host: withoutBrackets(values['dashboard-host']),
    port: values['dashboard-port'],
    writeTimeoutMs: values['dashboard-write-timeout'],
    pair: keyPairOf({ cert: 'dashboard-cert-file', key: 'dashboard-key-file' }, values),
  });
