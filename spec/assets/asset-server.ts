import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Asset } from '../../src/resources/asset.ts';
import { assetWithDefaults } from '../../src/resources/asset.ts';
import { listenLocally } from '../support/local-server.ts';

export const sha512Of = (bytes: Buffer | string): string => createHash('sha512').update(bytes).digest('hex');

/** An HTTP server for archives. */
export class AssetServer {
  /** The requests so far. */
  readonly requests: IncomingMessage[] = [];
  readonly #routes = new Map<string, Buffer | RequestListener>();
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      this.requests.push(request);
      const route = this.#routes.get(request.url ?? '');
      if (typeof route === 'function') route(request, response);
      else if (route === undefined) response.writeHead(404).end();
      else response.end(route);
    });
  }

  static async start(): Promise<AssetServer> {
    const server = new AssetServer();
    await listenLocally(server.#server);
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get paths(): (string | undefined)[] {
    return this.requests.map(({ url }) => url);
  }

  url(path: string): string {
    return `http://127.0.0.1:${this.port}${path}`;
  }

  /** Serves a body, or answers with a function. */
  serve(path: string, answer: Buffer | RequestListener): void {
    this.#routes.set(path, answer);
  }

  redirect(path: string, location: string, status = 302): void {
    this.serve(path, (_request, response) => response.writeHead(status, { location }).end());
  }

  /** Serves an archive, and returns the asset that has it. */
  asset(name: string, archive: Buffer, fields: Build = {}): Asset {
    const path = `/${name.replaceAll('/', '-')}.tgz`;
    this.serve(path, archive);
    return assetOf(name, { url: this.url(path), sha512: sha512Of(archive), ...fields });
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

type AssetFields = Partial<Parameters<typeof assetWithDefaults>[0]>;
type Build = { [Field in keyof AssetFields]?: AssetFields[Field] | undefined };

export const assetOf = (name: string, fields: Build): Asset =>
  assetWithDefaults({ metadata: { name, namespace: 'default' }, ...(fields as AssetFields) });
