import { createServer as createClearServer, type Server, type ServerOptions } from 'node:http';
import type { Api } from '../../http/app.ts';
import type { Clock } from '../../ports/clock.ts';
import { close } from './listen.ts';
import { oneAtATime } from './one-at-a-time.ts';

const REQUEST_TIMEOUT_MS = 15_000;
/** How late a request that takes too long may be cut. */
const REQUEST_CHECK_INTERVAL_MS = 1_000;
const KEEP_ALIVE_TIMEOUT_MS = 15_000;
/** Of one request: an access token names all groups of its user. */
const MAX_HEADER_BYTES = 64 * 1024;
/** For requests under way when the backend stops. */
const API_STOP_GRACE_MS = 3_000;

/** Serves the REST API, one request of a connection at a time, with limits on how long a client may take; in clear text unless told. */
export function createApiServer(
  api: Pick<Api, 'callback'>,
  { writeTimeoutMs }: { writeTimeoutMs: number },
  createServer: (options: ServerOptions) => Server = createClearServer,
): Server {
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: REQUEST_CHECK_INTERVAL_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
  });
  const answer = oneAtATime((request, response) => {
    response.setTimeout(writeTimeoutMs);
    api.callback(request, response);
  });
  server.on('request', answer);
  server.setTimeout(writeTimeoutMs + KEEP_ALIVE_TIMEOUT_MS);
  return server;
}

/** Requests under way are answered, on connections that then end; whoever holds one longer is cut. */
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
