import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { InvalidResource, Overloaded } from '../../resources/errors.ts';
import { oneAtATime } from '../../serving/one-at-a-time.ts';
import { describeSocketError } from '../../formats/socket-error.ts';
import { assertJsonBounds } from '../../wire/json-bounds.ts';
import { ByteBudget } from '../queue/byte-budget.ts';
import type { AgentMetrics } from '../metrics/agent-metrics.ts';
import { BodyTooLarge, readBody } from './request-body.ts';
import { browserRefusal, isLocalHost } from './local-request.ts';

/** Source: spec/03 6. */
const REQUEST_TIMEOUT_MS = 15_000;
const CHECK_INTERVAL_MS = 1_000;
/** The maximum number of open connections. Further ones are closed. */
const MAX_CONNECTIONS = 256;
/** The maximum size of all incomplete request bodies together, bytes. Beyond it, requests get 503. */
const MAX_HELD_BODY_BYTES = 64 * 1024 * 1024;
/** How long open requests may take when the agent stops. */
const STOP_GRACE_MS = 1_000;

const PLAIN = 'text/plain; charset=utf-8';

export interface ApiServerPorts {
  clock: Clock;
  log: Log;
  metrics: Pick<AgentMetrics, 'scrape'>;
  version: string;
  isConnected(): boolean;
  /** Accepts the body of an event. Resolves when the event is durable. @throws InvalidResource, Overloaded */
  accept(body: Buffer): Promise<void>;
  /** Like `accept`, for results in the format of the first generation. */
  acceptResults(body: Buffer): Promise<void>;
  /** The server failed after it listened. */
  failed(error: Error): void;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

/** The local HTTP API of the agent, without authentication. */
export class ApiServer {
  readonly #address: { readonly host: string; readonly port: number };
  readonly #ports: ApiServerPorts;
  readonly #server: Server;
  readonly #budget = new ByteBudget(MAX_HELD_BODY_BYTES);
  /** An undefined method matches every method. */
  readonly #routes: ReadonlyMap<string, { method: string | undefined; handle: Handler }>;

  constructor(address: { readonly host: string; readonly port: number }, ports: ApiServerPorts) {
    this.#address = address;
    this.#ports = ports;
    this.#routes = new Map([
      ['/events', { method: 'POST', handle: (request, response) => this.#postEvent(request, response) }],
      ['/results', { method: 'POST', handle: (request, response) => this.#postResults(request, response) }],
      ['/brew', { method: 'GET', handle: (_, response) => sendResponse(response, 418, "I'm a teapot!") }],
      ['/healthz', { method: 'GET', handle: (_, response) => this.#health(response) }],
      ['/version', { method: 'GET', handle: (_, response) => this.#version(response) }],
      ['/metrics', { method: undefined, handle: (_, response) => this.#metrics(response) }],
    ] satisfies [string, { method: string | undefined; handle: Handler }][]);
    this.#server = createServer({
      requestTimeout: REQUEST_TIMEOUT_MS,
      headersTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: CHECK_INTERVAL_MS,
    });
    this.#server.maxConnections = MAX_CONNECTIONS;
    const answer = oneAtATime((request, response) => void this.#answer(request, response));
    this.#server.on('request', answer);
  }

  /** Starts to listen. Rejects with a description of the system error when the address cannot be used. */
  async start(): Promise<void> {
    const { host, port } = this.#address;
    this.#server.listen({ host, port });
    await once(this.#server, 'listening').catch((error: Error) => {
      throw Object.assign(error, { message: describeSocketError(error) ?? error.message });
    });
    this.#server.on('error', (error) => this.#ports.failed(error));
    const bound = (this.#server.address() as AddressInfo).port;
    this.#ports.log.info({}, `starting api on address: ${host}:${bound}`);
  }

  /** Answers open requests for a limited time. */
  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeIdleConnections();
    const cancel = this.#ports.clock.after(STOP_GRACE_MS, () => this.#server.closeAllConnections());
    await closed;
    cancel();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const route = this.#routes.get((request.url ?? '').split('?', 1)[0] ?? '');
    const { host } = this.#address;
    const refusal = browserRefusal(request, isLocalHost(host) ? [host, hostname()] : undefined);
    const readsBody = refusal === undefined && route?.method === 'POST' && request.method === 'POST';
    if (!readsBody) closeWithUnreadBody(request, response);
    try {
      if (refusal !== undefined) sendError(response, 403, refusal);
      else if (route === undefined) sendError(response, 404, '404 page not found');
      else if (route.method !== undefined && route.method !== request.method) response.writeHead(405).end();
      else await route.handle(request, response);
    } catch (error) {
      this.#ports.log.error({ err: error }, 'request of the API failed');
      if (!response.headersSent) sendError(response, 500, 'internal error');
    }
  }

  async #postEvent(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await this.#ports.accept(await readBody(request, this.#budget));
      response.writeHead(202).end();
    } catch (error) {
      this.#refuse(error, request, (status, message) => sendError(response, status, message));
    }
  }

  /** Accepts results as the HTTP socket of the first generation does. Source: spec/05 11.4. */
  async #postResults(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      if (!/\bapplication\/json\b/i.test(request.headers['content-type'] ?? '')) {
        closeWithUnreadBody(request, response);
        sendResponse(response, 415, 'Invalid content type');
        return;
      }
      const body = await readBody(request, this.#budget);
      assertJsonBounds(body);
      if (!isJson(body)) {
        sendResponse(response, 400, 'Failed to parse JSON body');
        return;
      }
      await this.#ports.acceptResults(body);
      sendResponse(response, 202, 'ok');
    } catch (error) {
      this.#refuse(error, request, (status, message) => sendResponse(response, status, message));
    }
  }

  /** Answers with the error for which a body was not accepted, unless the client has disconnected. */
  #refuse(error: unknown, { socket }: IncomingMessage, answer: (status: number, message: string) => void): void {
    if (socket.destroyed) return;
    if (error instanceof BodyTooLarge) answer(413, error.message);
    else if (error instanceof InvalidResource) answer(400, error.message);
    else if (error instanceof Overloaded) answer(503, error.message);
    else {
      this.#ports.log.error({ err: error }, 'could not queue a posted event');
      answer(500, 'error queueing message');
    }
  }

  #health(response: ServerResponse): void {
    const isConnected = this.#ports.isConnected();
    response.writeHead(isConnected ? 200 : 503, { 'Content-Type': PLAIN });
    response.end(isConnected ? 'ok' : 'mon backend unavailable');
  }

  #version(response: ServerResponse): void {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify({ version: this.#ports.version }));
  }

  async #metrics(response: ServerResponse): Promise<void> {
    const { type, text } = await this.#ports.metrics.scrape();
    response.writeHead(200, { 'Content-Type': type }).end(text);
  }
}

/** Announces that the answer ends the connection when the request has a body, which must not be read as the next request. */
function closeWithUnreadBody({ headers }: IncomingMessage, response: ServerResponse): void {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0;
  if (hasBody) response.setHeader('Connection', 'close');
}

function sendError(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'Content-Type': PLAIN, 'X-Content-Type-Options': 'nosniff' });
  response.end(`${message}\n`);
}

/** Answers as the HTTP socket of the first generation does. */
function sendResponse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'Content-Type': 'application/json', 'X-Content-Type-Options': 'nosniff' });
  response.end(JSON.stringify({ response: message }));
}

function isJson(body: Buffer): boolean {
  try {
    JSON.parse(body.toString());
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}
