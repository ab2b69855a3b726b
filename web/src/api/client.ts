import { Problem } from './problem.ts';
import { accessToken, forget, reach } from './session.ts';

export type Query = Readonly<Record<string, string | number | readonly string[] | undefined>>;

export interface RequestOptions {
  query?: Query;
  body?: unknown;
  signal?: AbortSignal;
  headers?: Readonly<Record<string, string>>;
  /** The request outlives the page. */
  keepalive?: boolean;
}

export interface Listed<T> {
  items: T[];
  /** The token of the next page. */
  next: string | undefined;
}

/** A path of the API whose parts are encoded. */
export const at = (strings: TemplateStringsArray, ...parts: readonly string[]): string =>
  strings.reduce((text, string, index) => `${text}${encodeURIComponent(parts[index - 1] ?? '')}${string}`);

export const CORE = '/api/core/v2';
export const MON = '/api/mon/v1';

/** Sends a request with the user's access token. @throws Problem */
export async function request(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
  const response = await send(method, path, options, false);
  const final = response.status === 401 ? await send(method, path, options, true) : response;
  if (final.ok) return final;
  if (final.status === 401) forget();
  throw new Problem(final.status, await messageIn(final));
}

async function send(method: string, path: string, options: RequestOptions, isRejected: boolean): Promise<Response> {
  const { query = {}, body, signal, headers = {}, keepalive = false } = options;
  const token = await accessToken({ isRejected });
  const type = body === undefined ? {} : { 'Content-Type': 'application/json' };
  return reach(path + searchOf(query), {
    method,
    headers: { Authorization: `Bearer ${token}`, ...type, ...headers },
    keepalive,
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  });
}

export function searchOf(query: Query): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === '') continue;
    for (const one of Array.isArray(value) ? (value as readonly string[]) : [String(value)]) search.append(name, one);
  }
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}

async function messageIn(response: Response): Promise<string> {
  const text = await response.text();
  if (response.headers.get('Content-Type')?.includes('json') === true) {
    const { message } = JSON.parse(text) as { message?: unknown };
    if (typeof message === 'string') return message;
  }
  return text.trim() === '' ? `The backend answered ${response.status}.` : text.trim();
}

/** The JSON of a resource. @throws Problem */
export async function get<T>(path: string, options: RequestOptions = {}): Promise<T> {
  return (await (await request('GET', path, options)).json()) as T;
}

/** One page of a list. @throws Problem */
export async function list<T>(path: string, options: RequestOptions = {}): Promise<Listed<T>> {
  const response = await request('GET', path, options);
  const items = (await response.json()) as T[] | null;
  return { items: items ?? [], next: response.headers.get('Sensu-Continue') ?? undefined };
}

interface AllOptions<T> {
  /** The maximum number of items that are read. */
  max?: number;
  /** The sizes of the first page and of the others. */
  first?: number;
  page?: number;
  /** Receives the items of the pages that were read. */
  show?: (items: T[]) => void;
}

/** All pages of a list, up to a bound. @throws Problem */
export async function listAll<T>(
  path: string,
  { query = {}, ...options }: RequestOptions = {},
  { max = 5_000, first = 500, page: size = 500, show }: AllOptions<T> = {},
): Promise<T[]> {
  const all: T[] = [];
  let next: string | undefined;
  do {
    const page: Listed<T> = await list<T>(path, {
      ...options,
      query: { limit: all.length === 0 ? first : size, ...query, continue: next },
    });
    all.push(...page.items);
    next = page.next;
    if (next !== undefined) show?.([...all]);
  } while (next !== undefined && all.length < max);
  return all;
}

/** @throws Problem */
export async function write(method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<void> {
  await request(method, path, body === undefined ? {} : { body });
}
