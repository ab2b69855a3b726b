import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { AssetRoute } from './scenario.ts';

export interface AssetRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** Serves the routes of a scenario; anything else is 404. */
export class AssetServer {
  requests: AssetRequest[] = [];
  readonly #server: Server;

  constructor(routes: Readonly<Record<string, AssetRoute>>) {
    this.#server = createServer((request, response) => {
      const { method = '', url: path = '', headersDistinct: headers } = request;
      this.requests.push({ method, path, headers });
      const route = routes[path];
      if (route === undefined) {
        response.writeHead(404).end('not found');
        return;
      }
      const body = route.base64 === undefined ? Buffer.from(route.text ?? '') : Buffer.from(route.base64, 'base64');
      const location = route.location === undefined ? {} : { Location: route.location };
      const length = { 'Content-Length': String(body.length + (route.short ?? 0)) };
      void wait(route.delay_ms ?? 0).then(() => {
        response.writeHead(route.status ?? 200, { ...length, ...location, ...route.headers });
        if (route.short === undefined) response.end(body);
        else response.write(body, () => response.destroy());
      });
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
