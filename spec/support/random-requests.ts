import { readdirSync } from 'node:fs';
import { isText } from '../../src/http/request/request-path.ts';
import type { ApiRequest } from './api-client.ts';
import { readGolden } from './golden-file.ts';
import {
  ODD_CONTENT_TYPES,
  ODD_LITERALS,
  ODD_NAMES,
  ODD_QUERY_NAMES,
  ODD_QUERY_VALUES,
  ODD_TAGS,
  ODD_VALUES,
} from './odd-values.ts';
import type { SeededRandom } from './seeded-random.ts';

/** Paths that would change who may log in, end the login of the test, or wait for a process. */
const EXCLUDED = /\/users\/admin|^\/auth|\/cluster|\/metrics$|\/inspect|^\/graphql/;
/** Requests that the reference accepted, or refused because of what they contain. */
const IS_USEFUL = new Set([200, 201, 202, 204, 400, 409]);
const PLACEHOLDER = /\$\{[^}]*\}/g;
/** These keep commands and connections of stored handlers harmless. */
const HARMLESS: Readonly<Record<string, unknown>> = { command: 'true', host: '127.0.0.1', port: 9, password: 'short' };

const WORDS = new Set('execute hooks hook groups password reset_password reinstate subscriptions checks'.split(' '));
/** Routes that the reference does not have. */
const OWN_ROUTES: readonly ApiRequest[] = [
  '/ledger?limit=2',
  '/actors',
  '/actors/entity/default%2Fa',
  '/machines',
  '/machines/check-ttl',
  '/sessions',
  '/handshake-refusals',
  '/namespaces/default/sessions',
  '/namespaces/default/rings',
  '/namespaces/default/checks/a/schedule',
  '/namespaces/default/events/a/b/notifications',
].map((path) => ({ method: 'GET', path: `/api/mon/v1${path}` }));
const isWriting = (requests: readonly ApiRequest[]): boolean => requests.some(({ body }) => body !== undefined);
const NAMESPACES = '/api/core/v2/namespaces';
const NAMES = ['a', 'b', 'c.d:e', 'entity:a', 'dev'];
/** Generates requests that are like recorded ones, with odd names, members, values, literals, queries and headers. */
export class RandomRequests {
  readonly #random: SeededRandom;
  /** Recorded requests by method and kind of path, so that each kind is as likely. */
  readonly #recorded: readonly (readonly ApiRequest[])[];
  /** Values that were recorded under a member name. */
  readonly #values = new Map<string, unknown[]>();
  /** Recorded values by kind of resource and name of the member, so that each member is as likely. */
  readonly #members = new Map<string, Map<string, unknown[]>>();

  constructor(random: SeededRandom) {
    this.#random = random;
    const requests = [...recordedRequests(), ...OWN_ROUTES];
    const routes = new Map<string, ApiRequest[]>();
    for (const request of requests) routes.set(routeOf(request), [...(routes.get(routeOf(request)) ?? []), request]);
    this.#recorded = [...routes.values()];
    for (const { path, body } of requests) {
      this.#collect(body);
      if (isObject(body)) this.#collectMembers(kindOf(path), body);
    }
  }

  next(): ApiRequest {
    const routes = this.#random.oneIn(3) ? this.#recorded : this.#recorded.filter(isWriting);
    const { method, path: recorded, body } = this.#pick(this.#pick(routes));
    const path = this.#path(recorded);
    const sent = body === undefined && this.#random.oneIn(20) ? {} : body;
    return {
      method: this.#random.oneIn(40) ? this.#pick(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) : method,
      path,
      headers: this.#headers(method),
      ...(sent === undefined ? {} : { body: this.#body(path, this.#random.oneIn(10) ? sent : addressed(sent, path)) }),
    };
  }

  #pick<T>(items: readonly T[]): T {
    const item = items[this.#random.below(items.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }

  /** Most names are a few ones in one namespace, so that many requests concern what earlier ones wrote. */
  #path(recorded: string): string {
    const [path = '', query] = recorded.split('?');
    const isNamespaced = path.startsWith(`${NAMESPACES}/`);
    const segments = path.split('/').map((segment, index) => {
      if (index < 5 || (isNamespaced && index === 6) || WORDS.has(segment)) return segment;
      if (this.#random.oneIn(25)) return this.#pick(ODD_NAMES);
      if (this.#random.oneIn(10)) return segment;
      return isNamespaced && index === 5 && path.split('/').length > 6 ? 'default' : this.#pick(NAMES);
    });
    const asked = this.#random.oneIn(4) ? this.#query() : query;
    return segments.join('/') + (asked === undefined ? '' : `?${asked}`);
  }

  #query(): string {
    const count = 1 + this.#random.below(3);
    return Array.from({ length: count }, () => `${this.#pick(ODD_QUERY_NAMES)}=${this.#pick(ODD_QUERY_VALUES)}`).join(
      '&',
    );
  }

  #headers(method: string): Record<string, string> {
    const headers: Record<string, string> = {};
    if (method === 'PATCH') headers['content-type'] = 'application/merge-patch+json';
    if (this.#random.oneIn(20)) headers['content-type'] = this.#pick(ODD_CONTENT_TYPES);
    if (this.#random.oneIn(20)) headers['if-match'] = this.#pick(ODD_TAGS);
    if (this.#random.oneIn(20)) headers['if-none-match'] = this.#pick(ODD_TAGS);
    if (this.#random.oneIn(50)) headers['accept'] = this.#pick(['text/html', '*/*;q=0', ';', '']);
    return headers;
  }

  /** A JSON text. Some are damaged or contain literals that JavaScript would write in another way. */
  #body(path: string, recorded: unknown): string {
    let value = this.#withAnother(path, harmless(structuredClone(recorded)));
    for (let changes = Math.max(0, this.#random.below(4) - 1); changes > 0; changes -= 1) value = this.#changed(value);
    const text = JSON.stringify(harmless(value)) ?? '';
    if (!this.#random.oneIn(25)) return text;
    const at = this.#random.below(text.length + 1);
    return this.#pick([
      text.slice(0, at),
      text.slice(0, at) + this.#pick(['"', '{', ']', ',', '\u0000', '\ufeff', ' ']) + text.slice(at),
      text.replace(/\d+|"[^"]*"(?=[,}\]])/, () => this.#pick(ODD_LITERALS)),
      `${text}${text}`,
      `[${text}]`,
      '',
    ]);
  }

  /** Adds a member of another body of the same kind to every other body, changed or as it was recorded. */
  #withAnother(path: string, value: unknown): unknown {
    const members = [...(this.#members.get(kindOf(path)) ?? [])];
    if (!isObject(value) || members.length === 0 || this.#random.oneIn(2)) return value;
    const [name, recorded] = this.#pick(members);
    const member = structuredClone(this.#pick(recorded));
    return { ...value, [name]: this.#random.oneIn(3) ? member : this.#changed(member) };
  }

  /** Replaces, removes, adds or wraps one member at any depth. */
  #changed(value: unknown): unknown {
    if (value === null || typeof value !== 'object' || this.#random.oneIn(30)) return this.#pick(ODD_VALUES);
    if (Array.isArray(value)) {
      const at = this.#random.below(value.length + 1);
      const item: unknown = value[at];
      return value.toSpliced(at, 1, at === value.length ? this.#pick(ODD_VALUES) : this.#changed(item));
    }
    const names = Object.keys(value);
    const name = names.length === 0 || this.#random.oneIn(8) ? this.#pick([...this.#values.keys()]) : this.#pick(names);
    const { [name]: member, ...others } = value as Record<string, unknown>;
    if (this.#random.oneIn(10)) return others;
    return { ...others, [name]: this.#valueOf(name, member) };
  }

  #valueOf(name: string, member: unknown): unknown {
    if (member !== null && typeof member === 'object' && !this.#random.oneIn(4)) return this.#changed(member);
    const recorded = this.#values.get(name) ?? [];
    if (recorded.length > 0 && this.#random.oneIn(2)) return structuredClone(this.#pick(recorded));
    if (this.#random.oneIn(6)) return [member];
    return this.#pick(ODD_VALUES);
  }

  #collectMembers(kind: string, body: object): void {
    const members = this.#members.get(kind) ?? new Map<string, unknown[]>();
    this.#members.set(kind, members);
    for (const [name, member] of Object.entries(body)) {
      if (name !== 'metadata') members.set(name, [...(members.get(name) ?? []), member]);
    }
  }

  #collect(value: unknown): void {
    if (value === null || typeof value !== 'object') return;
    for (const [name, member] of Object.entries(value)) {
      if (!Array.isArray(value)) this.#values.set(name, [...(this.#values.get(name) ?? []), member]);
      this.#collect(member);
    }
  }
}

function recordedRequests(): ApiRequest[] {
  const files = ['rest', 'auth'].flatMap((folder) =>
    readdirSync(new URL(`../golden/${folder}`, import.meta.url))
      .toSorted()
      .map((file) => `${folder}/${file}`),
  );
  return files.flatMap(requestsIn).filter(({ path }) => path.startsWith('/api/') && !EXCLUDED.test(path));
}

function requestsIn(file: string): ApiRequest[] {
  const text = readGolden(file).replaceAll(PLACEHOLDER, 'x');
  const { steps } = JSON.parse(text) as { steps: { request?: ApiRequest; response?: { status: number } }[] };
  return steps.flatMap(({ request, response }) => {
    if (request === undefined || response === undefined || !IS_USEFUL.has(response.status)) return [];
    const { method, path, body } = request;
    return [body === undefined ? { method, path } : { method, path, body }];
  });
}

/** `PUT checks 7`: the method, the kind of resource and the number of segments. */
const routeOf = ({ method, path }: ApiRequest): string => `${method} ${kindOf(path)} ${path.split('/').length}`;

function kindOf(path: string): string {
  const [, , , , kind = '', , namespaced] = path.split(/[/?]/);
  return (kind === 'namespaces' && namespaced) || kind;
}

/** Returns the body with the names of the path. */
function addressed(body: unknown, path: string): unknown {
  if (!isObject(body)) return body;
  const [, , , , kind, namespace, , name, check] = path.split(/[/?]/).map(decoded);
  if (kind !== 'namespaces')
    return { ...body, ...('username' in body ? { username: namespace } : {}), ...named(body, { name: namespace }) };
  if (name === undefined)
    return 'name' in body ? { ...body, name: namespace } : { ...body, ...named(body, { namespace }) };
  return {
    ...body,
    ...named(body, { namespace, name }),
    ...('entity' in body ? { entity: { ...(body.entity as object), ...named(body.entity, { namespace, name }) } } : {}),
    ...('check' in body
      ? { check: { ...(body.check as object), ...named(body.check, { namespace, name: check }) } }
      : {}),
  };
}

const decoded = (segment: string): string => (isText(segment) ? decodeURIComponent(segment) : segment);

function named(value: unknown, names: Record<string, string | undefined>): object {
  if (!isObject(value) || !('metadata' in value)) return {};
  const known = Object.entries(names).filter(([, name]) => name !== undefined);
  return { metadata: { ...(value.metadata as object), ...Object.fromEntries(known) } };
}

const isObject = (value: unknown): value is object =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

/** Replaces members that would start a process, open a connection or hash a password. */
function harmless(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(harmless);
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      Object.hasOwn(HARMLESS, name) && typeof member === typeof HARMLESS[name] ? HARMLESS[name] : harmless(member),
    ]),
  );
}
