import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { printable } from '../../formats/printable.ts';
import { Overloaded, TooManyLogins } from '../../resources/errors.ts';
import { isName } from '../../resources/names.ts';
import type { User } from '../../resources/user.ts';
import { type Credentials, parseBasic } from '../../wire/handshake.ts';
import { agentNameOf, type Refusal } from './refusal.ts';

export interface AgentUser {
  username: string;
  groups: readonly string[];
}

/** Returns the user that an agent authenticates as, or a refusal. */
export type AgentAuthentication = (request: IncomingMessage) => Promise<AgentUser | Refusal>;

/** The identity of an agent whose certificate names no user. */
const CERTIFIED_AGENT: AgentUser = { username: 'agent', groups: ['system:agents'] };

/** Verifying the waiting passwords takes a few seconds. */
const OVERLOAD_RETRY_S = 5;

const refused = (message: string): Refusal => ({ status: 401, message });

const retryLater = (status: number, message: string, retryAfterS: number): Refusal => ({
  status,
  message,
  retryAfterS,
});

/** Verifies credentials sent from an address. Undefined when they are wrong. @throws TooManyLogins, Overloaded */
export type AgentLogin = (credentials: Credentials, remoteAddress: string) => Promise<User | undefined>;

/** Authenticates by `Basic` credentials. */
export function byPassword(login: AgentLogin): AgentAuthentication {
  return async ({ headers, socket: { remoteAddress = '' } }) => {
    const credentials = parseBasic(headers.authorization);
    if (credentials === undefined) return refused('missing credentials');
    try {
      const user = await login(credentials, remoteAddress);
      return user === undefined ? refused('bad credentials') : agentUser(user);
    } catch (error) {
      if (error instanceof TooManyLogins) return retryLater(429, 'too many failed logins', error.retryAfterS);
      if (error instanceof Overloaded) return retryLater(503, error.message, OVERLOAD_RETRY_S);
      throw error;
    }
  };
}

interface CertificateRules {
  userOf(name: string): User | undefined;
  /** Whether the common name of the certificate must equal the agent name. */
  namesEntity: boolean;
}

/** Authenticates by the common name of the verified client certificate. Requests with a password are refused. */
export function byCertificate(rules: CertificateRules): AgentAuthentication {
  return (request) => Promise.resolve(certifiedUser(request, rules));
}

function certifiedUser(
  { socket, headers }: IncomingMessage,
  { userOf, namesEntity }: CertificateRules,
): AgentUser | Refusal {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return refused('missing client certificate');
  if (headers.authorization !== undefined)
    return refused('this port requires a client certificate and accepts no password');
  // Node returns an array for a repeated name.
  const { CN } = socket.getPeerCertificate().subject as { CN?: string | string[] };
  if (Array.isArray(CN)) return refused('the client certificate has more than one common name');
  const user = CN !== undefined && isName(CN) ? userOf(CN) : undefined;
  if (user?.disabled === true) return refused('bad credentials');
  const agentName = agentNameOf(headers);
  if (namesEntity && CN !== agentName) return wrongAgentRefusal(CN, agentName);
  return user === undefined ? CERTIFIED_AGENT : agentUser(user);
}

const wrongAgentRefusal = (commonName: string | undefined, agentName: string): Refusal => ({
  status: 403,
  message:
    commonName === undefined
      ? 'the client certificate has no common name; it must be the agent name'
      : `the client certificate names ${printable(commonName)}, not ${printable(agentName)}`,
});

const agentUser = ({ username, groups }: User): AgentUser => ({
  username,
  groups: [...(groups ?? []), 'system:user'],
});
