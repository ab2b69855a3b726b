import { join } from 'node:path';
import type { RequestListener, Server, ServerOptions } from 'node:http';
import type { BackendConfig, ListenAddress } from '../../config/backend.ts';
import { openPages } from '../../http/dashboard/pages.ts';
import { dashboardListener, NO_PAGES } from '../../http/dashboard-listener.ts';
import type { Clock } from '../../ports/clock.ts';
import { PACKAGE_ROOT } from '../process/package-root.ts';
import type { OpenedTls } from '../tls/tls.ts';
import { closeApi, createApiServer } from './api-server.ts';
import type { Closers } from './closers.ts';
import type { ConnectionBound } from './connection-bound.ts';
import { type EarlierApiParts, earlierApisOf } from './earlier-api.ts';
import { listenOn } from './listen.ts';
import { openWebSockets, type WebSockets } from './open-websockets.ts';
import { apiOf, type RestApiPorts } from './rest-api.ts';

export interface OpenHttpPorts extends RestApiPorts, Omit<EarlierApiParts, 'agentPort' | 'pipeline'> {
  connections: ConnectionBound;
  tls: Pick<OpenedTls, 'createApiServer' | 'createDashboardServer'>;
}

export interface HttpServers {
  api: Server;
  /** Undefined when that listener is off. */
  dashboard: Server | undefined;
  /** Undefined when that listener is off. */
  earlierApi: Server | undefined;
}

interface Listening extends ListenAddress {
  callback: RequestListener;
  /** The flags that set the address. */
  flags: readonly string[];
  writeTimeoutMs: number;
  /** Undefined when it serves none. */
  webSockets?: WebSockets;
  createServer?: ((options: ServerOptions) => Server) | undefined;
}

/** The built dashboard. */
const PAGES = join(PACKAGE_ROOT, 'dist/web');
const NO_WEB_SOCKETS: ReadonlySet<string> = new Set();

/** Serves the REST API with its WebSockets, the API of the first generation and the dashboard. Resolves when all of them listen. */
export async function openHttp(config: BackendConfig, ports: OpenHttpPorts, closers: Closers): Promise<HttpServers> {
  const { connections, tls, clock, log } = ports;
  const webSockets = openWebSockets(config, ports);
  const open = openerOf(connections, clock, closers);
  const api = apiOf(config, ports);
  const earlier = earlierApisOf(config, { ...ports, log: log.child({ component: 'legacy-api' }) });
  const { api: apiConfig, earlierApi, dashboard } = config;
  const { writeTimeoutMs } = apiConfig;

  const servers: HttpServers = {
    api: await open({
      ...apiConfig,
      callback: api.callback,
      flags: ['api-listen-address'],
      webSockets,
      createServer: tls.createApiServer,
    }),
    dashboard: config.disabledFeatures?.has('dashboard')
      ? undefined
      : await open({
          ...dashboard,
          callback: dashboardListener({
            api,
            earlierApi: earlier.dashboard,
            pages: openPages(PAGES, { inspect: config.inspect === true }) ?? NO_PAGES,
          }),
          flags: ['dashboard-host', 'dashboard-port'],
          webSockets,
          createServer: tls.createDashboardServer,
        }),
    earlierApi:
      earlierApi?.listen &&
      earlier.core &&
      (await open({
        ...earlierApi.listen,
        callback: earlier.core.callback,
        flags: ['legacy-api-listen-address'],
        writeTimeoutMs,
      })),
  };
  closers.add(() => webSockets.stop());
  return servers;
}

/** Returns a function that opens a listener and registers how it is closed. */
const openerOf =
  (connections: ConnectionBound, clock: Clock, closers: Closers) =>
  async ({ callback, host, port, flags, writeTimeoutMs, webSockets, createServer }: Listening): Promise<Server> => {
    const limits = { writeTimeoutMs, webSocketPaths: webSockets?.paths ?? NO_WEB_SOCKETS };
    const server = createApiServer({ callback }, limits, connections, createServer);
    webSockets?.serveOn(server);
    await listenOn(server, { host, port, flags });
    closers.add(() => closeApi(server, clock));
    return server;
  };
