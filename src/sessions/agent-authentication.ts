import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { printable } from '../formats/printable.ts';
import { Overloaded, TooManyLogins } from '../resources/errors.ts';
import { isName } from '../resources/names.ts';
import type { User } from '../resources/user.ts';
import { type Credentials, parseBasic } from '../wire/handshake.ts';
import { agentNameOf, type Refusal } from './refusal.ts';

export interface AgentUser {
  username: string;
  groups: readonly string[];
}

/** As whom an agent comes in, or why it does not. */
export type AgentAuthentication = (request: IncomingMessage) => Promise<AgentUser | Refusal>;

/** Who has a certificate and is no user by its name. */
const CERTIFIED_AGENT: AgentUser = { username: 'agent', groups: ['system:agents'] };

/** Verifying those who wait takes some seconds. */
const OVERLOAD_RETRY_S = 5;

const refused = (message: string): Refusal => ({ status: 401, message });

const notYet = (status: number, message: string, retryAfterS: number): Refusal => ({ status, message, retryAfterS });

/** Whose credentials they are, sent from that address; undefined when they are nobody's. @throws TooManyLogins, Overloaded */
export type AgentLogin = (credentials: Credentials, remoteAddress: string) => Promise<User | undefined>;

/** By the `Basic` credentials of a user who may log in. */
export function byPassword(login: AgentLogin): AgentAuthentication {
  return async ({ headers, socket: { remoteAddress = '' } }) => {
    const credentials = parseBasic(headers.authorization);
    if (credentials === undefined) return refused('missing credentials');
    try {
      const user = await login(credentials, remoteAddress);
      return user === undefined ? refused('bad credentials') : agentUser(user);
    } catch (error) {
      if (error instanceof TooManyLogins) return notYet(429, 'too many failed logins', error.retryAfterS);
      if (error instanceof Overloaded) return notYet(503, error.message, OVERLOAD_RETRY_S);
      throw error;
    }
  };
}

interface CertificateRules {
  userOf(name: string): User | undefined;
  /** Whether an agent must have the common name of its certificate. */
  namesEntity: boolean;
}

/** By the common name of a certificate that the listener has verified; no password is looked at. */
export function byCertificate(rules: CertificateRules): AgentAuthentication {
  return (request) => Promise.resolve(certifiedUser(request, rules));
}

function certifiedUser(
  { socket, headers }: IncomingMessage,
  { userOf, namesEntity }: CertificateRules,
): AgentUser | Refusal {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return refused('missing client certificate');
  if (headers.authorization !== undefined) return refused('passwords are not taken here, client certificates are');
  // Node gives a list where a name occurs more than once.
  const { CN } = socket.getPeerCertificate().subject as { CN?: string | string[] };
  if (Array.isArray(CN)) return refused('the client certificate has more than one common name');
  const user = CN !== undefined && isName(CN) ? userOf(CN) : undefined;
  if (user?.disabled === true) return refused('bad credentials');
  const agentName = agentNameOf(headers);
  if (namesEntity && CN !== agentName) return forAnother(CN, agentName);
  return user === undefined ? CERTIFIED_AGENT : agentUser(user);
}

const forAnother = (commonName: string | undefined, agentName: string): Refusal => ({
  status: 403,
  message:
    commonName === undefined
      ? 'the client certificate has no common name, which must be the name of the agent'
      : `the client certificate is that of ${printable(commonName)}, not of ${printable(agentName)}`,
});

const agentUser = ({ username, groups }: User): AgentUser => ({
  username,
  groups: [...(groups ?? []), 'system:user'],
});
