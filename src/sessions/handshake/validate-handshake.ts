import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { isName } from '../../resources/names.ts';
import { SYSTEM_NAMESPACE } from '../../resources/namespace.ts';
import { HandshakeError, namespaceOf, parseHello, type AgentHello } from '../../wire/handshake.ts';
import type { AgentAuthentication, AgentUser } from './agent-authentication.ts';
import { agentNameOf, isRefusal, type Refusal } from './refusal.ts';

export interface HandshakeRules {
  authenticate: AgentAuthentication;
  /** Whether the user may create events for this agent in the namespace. */
  mayCreateEvents(user: AgentUser, namespace: string, agentName: string): boolean;
  /** Whether the agent's entity exists or the entity limit permits creating it. */
  hasRoomFor(namespace: string, agentName: string): boolean;
  namespaceExists(namespace: string): boolean;
}

/** An accepted agent and its authenticated user. */
export interface AdmittedAgent {
  hello: AgentHello;
  username: string;
}

const WEBSOCKET_VERSION = '13';

/** Validates a handshake: authentication first, then authorization, then form. Agents rely on the order. */
export async function validateHandshake(
  request: IncomingMessage,
  ports: HandshakeRules,
): Promise<AdmittedAgent | Refusal> {
  const { headers } = request;
  const user = await ports.authenticate(request);
  if (isRefusal(user)) return user;
  const namespace = namespaceOf(headers);
  const agentName = agentNameOf(headers);
  if (!ports.mayCreateEvents(user, namespace, agentName)) return { status: 403, message: 'Forbidden' };
  // Only the backend itself creates events in this namespace.
  if (namespace === SYSTEM_NAMESPACE) {
    return { status: 403, message: `namespace ${SYSTEM_NAMESPACE} is reserved for the backend` };
  }
  // Invalid names are refused below.
  if (isName(namespace) && isName(agentName) && !ports.hasRoomFor(namespace, agentName)) {
    return { status: 402, message: 'entity limit reached' };
  }
  if (namespace === '' || !ports.namespaceExists(namespace)) {
    return { status: 404, message: `namespace ${JSON.stringify(namespace)} not found` };
  }
  const outcome = upgradeRefusal(request) ?? readHello(request);
  return isRefusal(outcome) ? outcome : { hello: outcome, username: user.username };
}

function upgradeRefusal({ method, headers }: IncomingMessage): Refusal | undefined {
  const connection = (headers.connection ?? '').toLowerCase().split(',');
  if (!connection.some((option) => option.trim() === 'upgrade') || headers.upgrade?.toLowerCase() !== 'websocket') {
    return { status: 400, message: 'Bad Request\nthe client is not using the WebSocket protocol' };
  }
  if (method !== 'GET') return { status: 405, message: 'Method Not Allowed\nthe handshake must be a GET request' };
  if (headers['sec-websocket-version'] !== WEBSOCKET_VERSION) {
    return { status: 400, message: `Bad Request\nWebSocket version must be ${WEBSOCKET_VERSION}` };
  }
  if (headers.origin !== undefined && originHost(headers.origin) !== headers.host) {
    return { status: 403, message: 'Forbidden\nrequest origin not allowed' };
  }
  if ((headers['sec-websocket-key'] ?? '') === '') {
    return { status: 400, message: 'Bad Request\nSec-WebSocket-Key is missing or blank' };
  }
  return undefined;
}

function originHost(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

function readHello({ headers }: IncomingMessage): AgentHello | Refusal {
  try {
    return parseHello(headers);
  } catch (error) {
    if (error instanceof HandshakeError) return { status: 400, message: `Bad Request\n${error.message}` };
    throw error;
  }
}

const UNENCRYPTED = 'Client sent an HTTP request to an HTTPS server. Use wss://';

/** The refusal for bytes that are not a request; undefined if the peer has just disconnected. */
export function malformedRequestRefusal(error: NodeJS.ErrnoException, socket: Socket): Refusal | undefined {
  const { code = '', message } = error;
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return { status: 408, message: 'the request was not complete in time' };
  if (code === 'HPE_HEADER_OVERFLOW') return { status: 431, message: 'headers are too large' };
  if (code.startsWith('HPE_')) return { status: 400, message: `not an HTTP request: ${message}` };
  return tlsRefusal(error, socket);
}

/** After a failed handshake the connection is already closed, so the refusal only appears in the list of refusals. */
function tlsRefusal(error: NodeJS.ErrnoException, socket: Socket): Refusal | undefined {
  const { code = '', message, reason = message } = error as { reason?: string } & NodeJS.ErrnoException;
  if (code === 'ERR_SSL_HTTP_REQUEST') return { status: 400, message: UNENCRYPTED };
  if (code === 'ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE') return { status: 401, message: 'no client certificate' };
  if (code.startsWith('ERR_SSL_')) return { status: 400, message: `TLS handshake failed: ${reason}` };
  const authorizationError = socket instanceof TLSSocket ? (socket.authorizationError as unknown) : undefined;
  // `null` if the client sent no certificate.
  return typeof authorizationError === 'string'
    ? { status: 401, message: `the client certificate is not trusted: ${authorizationError}` }
    : undefined;
}

/** Response headers of a refusal. Refusals after the namespace check name the WebSocket version. */
export function refusalHeaders({ status, message, retryAfterS }: Refusal): Record<string, string> {
  return {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(`${message}\n`)),
    'X-Content-Type-Options': 'nosniff',
    ...(message.includes('\n') && status >= 400 ? { 'Sec-Websocket-Version': WEBSOCKET_VERSION } : {}),
    ...(retryAfterS === undefined ? {} : { 'Retry-After': String(retryAfterS) }),
    Connection: 'close',
  };
}
