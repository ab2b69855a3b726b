import { createServer as createClearServer, type Server, type ServerOptions } from 'node:http';
import type { Api } from '../../http/app.ts';
import type { Clock } from '../../ports/clock.ts';
import { upgradableOn } from '../../http/upgrade/upgradable-request.ts';
import type { ConnectionBound } from './connection-bound.ts';
import { ConnectionRefusal } from './connection-refusal.ts';
import { close } from './listen.ts';
import { oneAtATime } from '../../serving/one-at-a-time.ts';

const REQUEST_TIMEOUT_MS = 15_000;
/** Maximum delay before a request beyond its time limit is ended. */
const REQUEST_CHECK_INTERVAL_MS = 1_000;
const KEEP_ALIVE_TIMEOUT_MS = 15_000;
/** The limit for the headers of one request: an access token names all groups of its user. */
const MAX_HEADER_BYTES = 64 * 1024;
/** Time for requests to finish when the backend stops. */
const API_STOP_GRACE_MS = 3_000;

/**
 * Creates the server of the REST API. It answers one request of a connection at a time and limits how long a client may
 * take. Requests on connections above the bound are answered with 503. Without `createServer` it has no TLS.
 */
export function createApiServer(
  api: Pick<Api, 'callback'>,
  { writeTimeoutMs, webSocketPaths }: { writeTimeoutMs: number; webSocketPaths: ReadonlySet<string> },
  connections: ConnectionBound,
  createServer: (options: ServerOptions) => Server = createClearServer,
): Server {
  const server = createServer({
    IncomingMessage: upgradableOn(webSocketPaths),
    maxHeaderSize: MAX_HEADER_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: REQUEST_CHECK_INTERVAL_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
  });
  connections.guard(server);
  const refusal = new ConnectionRefusal(connections.limit);
  const answer = oneAtATime((request, response) => {
    if (connections.isRefused(request.socket)) {
      refusal.answer(request, response);
      return;
    }
    response.setTimeout(writeTimeoutMs);
    api.callback(request, response);
  });
  server.on('request', answer);
  server.setTimeout(writeTimeoutMs + KEEP_ALIVE_TIMEOUT_MS);
  return server;
}

/** Answers the requests in progress and closes their connections; those that stay open longer are terminated. */
export async function closeApi(server: Server, clock: Clock): Promise<void> {
  server.prependListener('request', (_, response) => {
    response.setHeader('Connection', 'close');
  });
  const closed = close(server);
  server.closeIdleConnections();
  const cancel = clock.after(API_STOP_GRACE_MS, () => {
    server.closeAllConnections();
  });
  await closed;
  cancel();
}
