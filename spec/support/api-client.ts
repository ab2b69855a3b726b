import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import type { SecureContextOptions } from 'node:tls';
import type { LedgerEntry } from '../../src/store/ledger/ledger.ts';
import { basicHeader, type Credentials } from '../../src/wire/handshake.ts';
import { at } from './json-path.ts';

export const ADMIN: Credentials = { username: 'admin', password: 'Adm1n-P@ss' };

const LEDGER_PAGE = 1_000;

export interface ApiAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** The parsed body; undefined if it is not JSON. */
  json: unknown;
}

export interface ApiRequest {
  method: string;
  path: string;
  headers?: Record<string, string>;
  /** Sent as JSON; a string is sent unchanged. */
  body?: unknown;
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
};

/** A client of the REST API that keeps its connections open. Paths `/ns/x/...` mean `/api/core/v2/namespaces/x/...`. */
export class ApiClient {
  readonly #port: number;
  readonly #isSecure: boolean;
  readonly #connections: Agent;
  #credentials: Credentials | undefined;
  #token: string | undefined;

  /** Creates a client without a login: requests carry only the given headers. With `tls` it connects with TLS. */
  constructor(port: number, tls?: SecureContextOptions) {
    this.#port = port;
    this.#isSecure = tls !== undefined;
    this.#connections =
      tls === undefined ? new Agent({ keepAlive: true }) : new SecureAgent({ ...tls, keepAlive: true });
  }

  static async login(port: number, credentials: Credentials = ADMIN, tls?: SecureContextOptions): Promise<ApiClient> {
    const client = new ApiClient(port, tls);
    await client.#login(credentials);
    return client;
  }

  async #login(credentials: Credentials): Promise<void> {
    const answer = await this.#send('GET', '/auth', { authorization: basicHeader(credentials) }, undefined);
    const token = at(answer.json, 'access_token');
    if (typeof token !== 'string') throw new Error(`login answered ${answer.status} ${answer.text}`);
    this.#credentials = credentials;
    this.#token = token;
  }

  /** Sends a request. If the token has expired, it logs in again and repeats the request once. */
  async request({ method, path, headers = {}, body }: ApiRequest): Promise<ApiAnswer> {
    const fullPath = path.replace(/^\/ns\//, '/api/core/v2/namespaces/');
    const bytes = body === undefined ? undefined : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
    const type: Record<string, string> = bytes === undefined ? {} : { 'content-type': 'application/json' };
    const send = (): Promise<ApiAnswer> => {
      const bearer: Record<string, string> =
        this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` };
      return this.#send(method, fullPath, { ...bearer, ...type, ...headers }, bytes);
    };
    const answer = await send();
    if (answer.status !== 401 || this.#credentials === undefined || headers['authorization'] !== undefined)
      return answer;
    await this.#login(this.#credentials);
    return send();
  }

  get(path: string): Promise<ApiAnswer> {
    return this.request({ method: 'GET', path });
  }

  put(path: string, body: unknown): Promise<ApiAnswer> {
    return this.request({ method: 'PUT', path, body });
  }

  /** Sends a merge patch. */
  patch(path: string, body: unknown, headers: Record<string, string> = {}): Promise<ApiAnswer> {
    const type = { 'content-type': 'application/merge-patch+json' };
    return this.request({ method: 'PATCH', path, headers: { ...type, ...headers }, body });
  }

  post(path: string, body: unknown): Promise<ApiAnswer> {
    return this.request({ method: 'POST', path, body });
  }

  delete(path: string): Promise<ApiAnswer> {
    return this.request({ method: 'DELETE', path });
  }

  /** Returns the stored event, or undefined if there is none. */
  event(entity: string, check: string, namespace = 'default'): Promise<unknown> {
    return this.#found(`/ns/${namespace}/events/${entity}/${check}`);
  }

  /** Returns the stored entity, or undefined if there is none. */
  entity(name: string, namespace = 'default'): Promise<unknown> {
    return this.#found(`/ns/${namespace}/entities/${name}`);
  }

  /** Returns all ledger entries of an actor, or of one key of it, in order. */
  async ledger(query: { actor: string; key?: string }): Promise<LedgerEntry[]> {
    const entries: LedgerEntry[] = [];
    for (let after = '0'; ;) {
      const search = new URLSearchParams({ ...query, limit: String(LEDGER_PAGE), continue: after });
      const { status, headers, json, text } = await this.get(`/api/mon/v1/ledger?${search.toString()}`);
      if (status !== 200) throw new Error(`the ledger answered ${status} ${text}`);
      entries.push(...(json as { entries: LedgerEntry[] }).entries);
      const next = headers['sensu-continue'];
      if (typeof next !== 'string') return entries;
      after = next;
    }
  }

  async #found(path: string): Promise<unknown> {
    const { status, json, text } = await this.get(path);
    if (status === 404) return undefined;
    if (status !== 200) throw new Error(`GET ${path} answered ${status} ${text}`);
    return json;
  }

  close(): void {
    this.#connections.destroy();
  }

  #send(method: string, path: string, headers: Record<string, string>, body: Buffer | undefined): Promise<ApiAnswer> {
    const length: Record<string, number> = body === undefined ? {} : { 'content-length': body.length };
    const target = { host: '127.0.0.1', port: this.#port, agent: this.#connections, method, path };
    return new Promise((resolve, reject) => {
      const send = this.#isSecure ? secureRequest : request;
      const outgoing = send({ ...target, headers: { ...headers, ...length } }, (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text, json: parsed(text) });
        });
      });
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  }
}
