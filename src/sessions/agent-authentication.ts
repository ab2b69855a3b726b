import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { isName } from '../resources/names.ts';
import type { User } from '../resources/user.ts';
import { type Credentials, parseBasic } from '../wire/handshake.ts';
import type { AgentUser, Refusal } from './refusals.ts';

/** As whom an agent comes in, or why it does not. */
export type AgentAuthentication = (request: IncomingMessage) => Promise<AgentUser | Refusal>;

/** Who has a certificate and is no user by its name. */
const CERTIFIED_AGENT: AgentUser = { username: 'agent', groups: ['system:agents'] };

const refused = (message: string): Refusal => ({ status: 401, message });

/** By the `Basic` credentials of a user who may log in. */
export function byPassword(verify: (credentials: Credentials) => Promise<User | undefined>): AgentAuthentication {
  return async ({ headers }) => {
    const credentials = parseBasic(headers.authorization);
    if (credentials === undefined) return refused('missing credentials');
    const user = await verify(credentials);
    return user === undefined ? refused('bad credentials') : agentUser(user);
  };
}

/** By the common name of a certificate that the listener has verified; no password is looked at. */
export function byCertificate(userOf: (name: string) => User | undefined): AgentAuthentication {
  return ({ socket, headers }) => Promise.resolve(certifiedUser(socket, headers.authorization, userOf));
}

function certifiedUser(
  socket: IncomingMessage['socket'],
  authorization: string | undefined,
  userOf: (name: string) => User | undefined,
): AgentUser | Refusal {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return refused('missing client certificate');
  if (authorization !== undefined) return refused('passwords are not taken here, client certificates are');
  // Node gives a list where a name occurs more than once.
  const { CN } = socket.getPeerCertificate().subject as { CN?: string | string[] };
  if (Array.isArray(CN)) return refused('the client certificate has more than one common name');
  const user = CN !== undefined && isName(CN) ? userOf(CN) : undefined;
  if (user === undefined) return CERTIFIED_AGENT;
  return user.disabled ? refused('bad credentials') : agentUser(user);
}

const agentUser = ({ username, groups }: User): AgentUser => ({
  username,
  groups: [...(groups ?? []), 'system:user'],
});
