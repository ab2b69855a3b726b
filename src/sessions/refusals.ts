import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { isName } from '../resources/names.ts';
import { SYSTEM_NAMESPACE } from '../resources/namespace.ts';
import { HandshakeError, namespaceOf, parseHello, type AgentHello } from '../wire/handshake.ts';
import type { AgentAuthentication, AgentUser } from './agent-authentication.ts';
import { agentNameOf, isRefusal, type Refusal } from './refusal.ts';

export interface RefusalPorts {
  authenticate: AgentAuthentication;
  /** Whether the user may create events of that agent in the namespace. */
  mayCreateEvents(user: AgentUser, namespace: string, agentName: string): boolean;
  /** Whether the agent's entity exists or may come to be. */
  hasRoomFor(namespace: string, agentName: string): boolean;
  namespaceExists(namespace: string): boolean;
}

/** An agent that may come in, and the user it comes as. */
export interface Admission {
  hello: AgentHello;
  username: string;
}

const WEBSOCKET_VERSION = '13';

/** Judges a handshake in the order agents rely on: who asks, what for, and only then whether it is well formed. */
export async function judge(request: IncomingMessage, ports: RefusalPorts): Promise<Admission | Refusal> {
  const { headers } = request;
  const user = await ports.authenticate(request);
  if (isRefusal(user)) return user;
  const namespace = namespaceOf(headers);
  const agentName = agentNameOf(headers);
  if (!ports.mayCreateEvents(user, namespace, agentName)) return { status: 403, message: 'Forbidden' };
  // Its events are the backend's word about itself.
  if (namespace === SYSTEM_NAMESPACE) {
    return { status: 403, message: `namespace ${SYSTEM_NAMESPACE} is the backend's own, no agent belongs to it` };
  }
  // Names that cannot be those of an entity are refused further down.
  if (isName(namespace) && isName(agentName) && !ports.hasRoomFor(namespace, agentName)) {
    return { status: 402, message: 'entity limit reached' };
  }
  if (namespace === '' || !ports.namespaceExists(namespace)) {
    return { status: 404, message: `namespace ${JSON.stringify(namespace)} not found` };
  }
  const outcome = upgradeFault(request) ?? readHello(request);
  return isRefusal(outcome) ? outcome : { hello: outcome, username: user.username };
}

function upgradeFault({ method, headers }: IncomingMessage): Refusal | undefined {
  const connection = (headers.connection ?? '').toLowerCase().split(/ *, */);
  if (!connection.includes('upgrade') || headers.upgrade?.toLowerCase() !== 'websocket') {
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

/** What to answer to bytes that are no HTTP request, or no TLS; undefined when the peer has just gone. */
export function unreadableRequest(error: NodeJS.ErrnoException, socket: Socket): Refusal | undefined {
  const { code = '', message } = error;
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return { status: 408, message: 'no whole request came in time' };
  if (code === 'HPE_HEADER_OVERFLOW') return { status: 431, message: 'headers are too large' };
  if (code.startsWith('HPE_')) return { status: 400, message: `not an HTTP request: ${message}` };
  return failedHandshake(error, socket);
}

/** Nobody reads the status: the connection is gone. It tells in the list of refusals who is to blame. */
function failedHandshake(error: NodeJS.ErrnoException, socket: Socket): Refusal | undefined {
  const { code = '', message, reason = message } = error as { reason?: string } & NodeJS.ErrnoException;
  if (code === 'ERR_SSL_HTTP_REQUEST')
    return { status: 400, message: 'clear text on a port with TLS, which wants wss' };
  if (code === 'ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE') return { status: 401, message: 'no client certificate' };
  if (code.startsWith('ERR_SSL_')) return { status: 400, message: `TLS handshake failed: ${reason}` };
  const distrust = socket instanceof TLSSocket ? (socket.authorizationError as unknown) : undefined;
  // A client that sent none has no error, but `null`.
  return typeof distrust === 'string'
    ? { status: 401, message: `the client certificate is not trusted: ${distrust}` }
    : undefined;
}

/** The refusal as headers and body; those after the namespace rule name the WebSocket version. */
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
