import { type ConfigWarning, type Flag, type FlagValues, kinds, type Rule } from '../parsing/flags.ts';
import { fileOf, type KeyPairFiles, keyPairOf, type NamedFile, keyPairRule, pemFile } from './tls-flags.ts';

/** The agents that the agents' listener accepts when it requests certificates. */
export interface AgentAuth {
  readonly pair: KeyPairFiles;
  /** Authorities of agents. */
  readonly ca: NamedFile;
  /** URLs of lists of revoked certificates: `http:`, `https:` or `file:`. If there is one, each authority of a chain must have one. */
  readonly crlUrls: readonly string[];
  /** Whether the name of an agent must be the common name of its certificate. */
  readonly namesEntity: boolean;
}

export interface BackendTls {
  /** The certificate of both listeners; clear text without it. */
  readonly pair: KeyPairFiles | undefined;
  /** Authentication of agents by their certificates, with the listener's own certificate. */
  readonly agentAuth: AgentAuth | undefined;
  /** Authorities of servers that the backend connects to, instead of the default ones. */
  readonly trustedCa: NamedFile | undefined;
  /** Whether the backend connects to servers without verifying their certificates. */
  readonly skipsVerification: boolean;
  /** The names in OpenSSL of the cipher suites of all listeners; the default when empty. */
  readonly cipherSuites?: readonly string[];
}

export const backendTlsFlags = {
  'cert-file': pemFile('certificate of the API and of the port for agents, PEM, leaf first'),
  'key-file': pemFile('key of the certificate, PEM, readable by its owner only'),
  'trusted-ca-file': pemFile(
    'certificate authorities of servers that the backend connects to, PEM, by default those of the system',
  ),
  'insecure-skip-tls-verify': {
    kind: kinds.boolean,
    fallback: false,
    about: 'accept any certificate of a server that the backend connects to, for development only',
  },
  'agent-auth-cert-file': pemFile('certificate of the port for agents, which then requires certificates of agents'),
  'agent-auth-key-file': pemFile('key of the certificate of the port for agents'),
  'agent-auth-trusted-ca-file': pemFile('certificate authorities of agents, PEM'),
  'agent-auth-crl-urls': {
    kind: kinds.list,
    fallback: [] as string[],
    about: 'URLs of lists of revoked certificates of agents: http, https or file',
  },
  'agent-certificate-names-entity': {
    kind: kinds.boolean,
    fallback: false,
    about: 'require that the common name of a certificate is the name of the agent',
  },
} satisfies Record<string, Flag<unknown>>;

type Values = FlagValues<typeof backendTlsFlags>;

const AGENT_AUTH = ['agent-auth-cert-file', 'agent-auth-key-file', 'agent-auth-trusted-ca-file'] as const;
const CRL_SCHEME = /^(https?|file):$/;

const isComplete = (values: Values): boolean => AGENT_AUTH.every((flag) => values[flag] !== '');

function crlUrlError(urls: readonly string[]): string | undefined {
  const wrong = urls.find((url) => !URL.canParse(url) || !CRL_SCHEME.test(new URL(url).protocol));
  return wrong === undefined ? undefined : `agent-auth-crl-urls: ${wrong} must be a URL of http, https or file`;
}

export const backendTlsRules: readonly Rule<typeof backendTlsFlags>[] = [
  keyPairRule,
  {
    flags: AGENT_AUTH,
    broken: (values) =>
      AGENT_AUTH.some((flag) => values[flag] !== '') && !isComplete(values)
        ? `tls configuration error, the flags ${AGENT_AUTH.map((flag) => `--${flag}`).join(', ')} are required together`
        : undefined,
  },
  {
    flags: ['agent-auth-crl-urls', 'agent-auth-trusted-ca-file'],
    broken: (values) =>
      values['agent-auth-crl-urls'].length > 0 && values['agent-auth-trusted-ca-file'] === ''
        ? 'agent-auth-crl-urls needs --agent-auth-trusted-ca-file'
        : crlUrlError(values['agent-auth-crl-urls']),
  },
  {
    flags: ['agent-certificate-names-entity', 'agent-auth-trusted-ca-file'],
    broken: (values) =>
      values['agent-certificate-names-entity'] && values['agent-auth-trusted-ca-file'] === ''
        ? 'agent-certificate-names-entity needs --agent-auth-trusted-ca-file'
        : undefined,
  },
];

export function backendTlsOf(
  values: Values,
  cipherSuites: readonly string[],
  warn: (warning: ConfigWarning) => void,
): BackendTls {
  const skipsVerification = values['insecure-skip-tls-verify'];
  if (skipsVerification) {
    const fields = { flag: 'insecure-skip-tls-verify' };
    warn({ message: 'certificates of the servers that the backend connects to are not verified', fields });
  }
  return Object.freeze({
    pair: keyPairOf({ cert: 'cert-file', key: 'key-file' }, values),
    agentAuth: agentAuthOf(values),
    trustedCa: fileOf('trusted-ca-file', values),
    skipsVerification,
    cipherSuites,
  });
}

function agentAuthOf(values: Values): AgentAuth | undefined {
  const pair = keyPairOf({ cert: 'agent-auth-cert-file', key: 'agent-auth-key-file' }, values);
  const ca = fileOf('agent-auth-trusted-ca-file', values);
  if (pair === undefined || ca === undefined) return undefined;
  return Object.freeze({
    pair,
    ca,
    crlUrls: Object.freeze(values['agent-auth-crl-urls']),
    namesEntity: values['agent-certificate-names-entity'],
  });
}
