import { type Flag, type FlagValues, InvalidValue, kinds, type Rule } from '../parsing/flags.ts';
import type { ListenAddress } from '../parsing/listen-address.ts';
import { addressKind } from '../parsing/listen-address.ts';

const MAX_LIMIT_BYTES = 2 ** 31 - 1;
const PAIR = ['legacy-api-user', 'legacy-api-password'] as const;

/** The API of the first generation. */
export interface EarlierApiConfig {
  /** Its own listener, unless that is off. */
  readonly listen: ListenAddress | undefined;
  /** Whether the listener of the dashboard serves it too. */
  readonly onDashboard: boolean;
  readonly requestLimitBytes: number;
  /** The user name and the password that give access to everything in this API. */
  readonly pair: { readonly username: string; readonly password: string } | undefined;
  /** Whether requests of other machines need no credentials. */
  readonly allowsAnonymous: boolean;
  /** Headers for scripts in browsers, by name; none are sent when it is empty. */
  readonly corsHeaders: Readonly<Record<string, string>>;
  /** The datacenters by namespace. Empty: each namespace is a datacenter of the same name. */
  readonly datacenters: Readonly<Record<string, string>>;
}

/** An address, or undefined for none. */
const optionalAddress: Flag<ListenAddress | undefined>['kind'] = {
  placeholder: 'host:port',
  fromTexts: (texts) => (texts.at(-1) === '' ? undefined : addressKind.fromTexts(texts)),
  show: (address) => (address === undefined ? '' : (addressKind.show?.(address) ?? '')),
};

/** Headers are sent as they are. */
const headerKind: Flag<string>['kind'] = {
  placeholder: 'text',
  fromTexts(texts) {
    const value = texts.at(-1) ?? '';
    if (!/^[\t\x20-\x7e]*$/.test(value)) throw new InvalidValue('must be the value of a header in ASCII');
    return value;
  },
};

/** A long default, which the help does not show. */
const longHeaderKind: Flag<string>['kind'] = { ...headerKind, show: () => '' };

export const earlierApiFlags = {
  'legacy-api-listen-address': {
    kind: optionalAddress,
    fallback: { host: '127.0.0.1', port: 4567 },
    about: 'address of the API of the first generation; empty for none',
  } satisfies Flag<ListenAddress | undefined> as Flag<ListenAddress | undefined>,
  'legacy-dashboard-api': {
    kind: kinds.boolean,
    fallback: true,
    about: 'serve the API of the first generation on the listener of the dashboard too, as its dashboard did',
  },
  'legacy-api-user': {
    kind: kinds.text,
    fallback: '',
    about: 'user name for the API of the first generation; requires the password',
  },
  'legacy-api-password': {
    kind: kinds.text,
    fallback: '',
    about: 'password for the API of the first generation; requires the user name',
    secret: true,
  },
  'legacy-api-allow-anonymous': {
    kind: kinds.boolean,
    fallback: false,
    about: 'let other machines use the API of the first generation without credentials',
  },
  'legacy-api-request-limit': {
    kind: kinds.integer(1, MAX_LIMIT_BYTES),
    fallback: 512_000,
    about: 'largest request body of the API of the first generation in bytes',
  },
  'legacy-api-cors': {
    kind: kinds.boolean,
    fallback: true,
    about: 'send the headers that let scripts in browsers read the API of the first generation',
  },
  'legacy-api-cors-origin': {
    kind: headerKind,
    fallback: '*',
    about: 'origin that may read the API of the first generation',
  },
  'legacy-api-cors-methods': {
    kind: longHeaderKind,
    fallback: 'GET, POST, PUT, DELETE, OPTIONS',
    about: 'methods that scripts of other origins may use',
  },
  'legacy-api-cors-headers': {
    kind: longHeaderKind,
    fallback: 'Origin, X-Requested-With, Content-Type, Accept, Authorization',
    about: 'request headers that scripts of other origins may send',
  },
  'legacy-api-cors-credentials': {
    kind: kinds.boolean,
    fallback: false,
    about: 'let scripts of other origins send credentials; requires an origin other than *',
  },
  'legacy-datacenters': {
    kind: kinds.map,
    fallback: {},
    about:
      'namespaces in the API of the first generation, each with the name of its datacenter; all of them when empty',
  },
};

type Values = FlagValues<typeof earlierApiFlags>;

export const earlierApiRules: readonly Rule<typeof earlierApiFlags>[] = [
  {
    flags: PAIR,
    broken: (values: Values) =>
      PAIR.filter((flag) => values[flag] === '').length === 1
        ? 'legacy-api-user and legacy-api-password are required together'
        : undefined,
  },
  {
    flags: ['legacy-api-cors-credentials', 'legacy-api-cors-origin'],
    broken: (values: Values) =>
      values['legacy-api-cors-credentials'] && values['legacy-api-cors-origin'] === '*'
        ? 'legacy-api-cors-credentials requires legacy-api-cors-origin to be one origin'
        : undefined,
  },
  { flags: ['legacy-datacenters'], broken: (values: Values) => datacenterProblem(values['legacy-datacenters']) },
];

function datacenterProblem(datacenters: Readonly<Record<string, string>>): string | undefined {
  const names = Object.values(datacenters);
  const invalid = names.find((name) => name === '' || /[:/;?]/.test(name));
  if (invalid !== undefined) return `legacy-datacenters must have names without ":", "/", ";" and "?"`;
  const double = names.find((name, index) => names.indexOf(name) !== index);
  return double === undefined ? undefined : `legacy-datacenters must have different names: ${double} is there twice`;
}

/** Undefined when the API is off. */
export function earlierApiConfig(values: Values): { readonly earlierApi?: EarlierApiConfig } {
  const listen = values['legacy-api-listen-address'];
  const onDashboard = values['legacy-dashboard-api'];
  if (listen === undefined && !onDashboard) return {};
  const [username, password] = [values['legacy-api-user'], values['legacy-api-password']];
  return {
    earlierApi: Object.freeze({
      listen,
      onDashboard,
      requestLimitBytes: values['legacy-api-request-limit'],
      pair: username === '' ? undefined : Object.freeze({ username, password }),
      allowsAnonymous: values['legacy-api-allow-anonymous'],
      corsHeaders: Object.freeze(corsHeaders(values)),
      datacenters: Object.freeze(values['legacy-datacenters']),
    }),
  };
}

function corsHeaders(values: Values): Record<string, string> {
  if (!values['legacy-api-cors']) return {};
  return {
    'Access-Control-Allow-Origin': values['legacy-api-cors-origin'],
    'Access-Control-Allow-Methods': values['legacy-api-cors-methods'],
    ...(values['legacy-api-cors-credentials'] ? { 'Access-Control-Allow-Credentials': 'true' } : undefined),
    'Access-Control-Allow-Headers': values['legacy-api-cors-headers'],
  };
}
