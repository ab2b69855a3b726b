import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import {
  type Credentials,
  HandshakeError,
  namespaceOf,
  parseBasic,
  parseHello,
  type AgentHello,
} from '../wire/handshake.ts';

/** An answer other than 101, as text. */
export interface Refusal {
  status: number;
  message: string;
}

export interface RefusalPorts {
  /** Whether the credentials are those of a user who may log in. */
  authenticate(credentials: Credentials): Promise<AgentUser | undefined>;
  /** Whether the user may create events of that agent in the namespace. */
  mayCreateEvents(user: AgentUser, namespace: string, agentName: string): boolean;
  namespaceExists(namespace: string): boolean;
}

export interface AgentUser {
  username: string;
  groups: readonly string[];
}

/** An agent that may come in, and the user it comes as. */
export interface Admission {
  hello: AgentHello;
  username: string;
}

const WEBSOCKET_VERSION = '13';

export const isRefusal = (outcome: object): outcome is Refusal => 'status' in outcome;

/** As the agent claims it; nothing is judged here. */
export const agentNameOf = (headers: IncomingHttpHeaders): string =>
  String(headers['sensu-agentname'] ?? headers['mon-agentname'] ?? '');

/** Judges a handshake in the order agents rely on: who asks, what for, and only then whether it is well formed. */
export async function judge(request: IncomingMessage, ports: RefusalPorts): Promise<Admission | Refusal> {
  const { headers } = request;
  const credentials = parseBasic(headers.authorization);
  if (credentials === undefined) return { status: 401, message: 'missing credentials' };
  const user = await ports.authenticate(credentials);
  if (user === undefined) return { status: 401, message: 'bad credentials' };
  const namespace = namespaceOf(headers);
  if (!ports.mayCreateEvents(user, namespace, agentNameOf(headers))) return { status: 403, message: 'Forbidden' };
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

/** What to answer to bytes that are no HTTP request, undefined when the peer has just gone. */
export function unreadableRequest({ code = '', message }: NodeJS.ErrnoException): Refusal | undefined {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return { status: 408, message: 'no whole request came in time' };
  if (code === 'HPE_HEADER_OVERFLOW') return { status: 431, message: 'headers are too large' };
  return code.startsWith('HPE_') ? { status: 400, message: `not an HTTP request: ${message}` } : undefined;
}

/** The refusal as headers and body; those after the namespace rule name the WebSocket version. */
export function refusalHeaders({ status, message }: Refusal): Record<string, string> {
  return {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(`${message}\n`)),
    'X-Content-Type-Options': 'nosniff',
    ...(message.includes('\n') && status >= 400 ? { 'Sec-Websocket-Version': WEBSOCKET_VERSION } : {}),
    Connection: 'close',
  };
}
